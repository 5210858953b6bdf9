// One memory: what it says, why it is trusted, what happened to it, and why it is as it is.

import { html, useState } from "../vendor/preact.js";
import { del, get, pathOf, post } from "../lib/api.js";
import { FreshnessCurve } from "../lib/charts.js";
import { amount, fraction, when, words } from "../lib/format.js";
import { attempt, href, useData, useNarrow, useSession } from "../lib/hooks.js";
import { Badge, Button, Card, Confirm, Copy, Empty, Json, Loaded, Masked, MemoryLink, Meter, Missing, PageTitle, Pairs, Sentence, Time, isMissing, tellsSecret } from "../lib/ui.js";

const WEIGHTS = [["source_strength", "source", 0.45], ["repetition", "repetition", 0.2], ["extractor_confidence", "extractor", 0.25], ["type_prior", "type prior", 0.1]];
/** How a memory of a category that was chosen for it fades, whatever its type; as the service has it. */
const CATEGORIES = { episodic: [45, 0.02], semantic: [120, 0.02], procedural: [null, 0], control: [null, 0], core: [120, 0.6] };
const COMMON = new Set(["id", "type", "category", "status", "content", "subject", "slot", "contested", "confidence", "confidence_parts", "freshness", "importance", "topic", "scope", "user_id", "agent_id", "session_id", "sequence_number", "speech_act", "occurred_at", "valid_from", "valid_until", "recorded_at", "retired_at", "supersedes", "superseded_by", "links", "evidence", "provenance", "access_count", "last_accessed_at", "distinct_sessions", "stability", "useful_count", "not_useful_count", "wrong_count", "needs_review", "review_reason", "metadata", "speaker"]);
const STATE_ACTIONS = /superseded|expired|forgotten|rejected|ended|revived|decided|added|contradicted|accepted/;

/** Return the fields that only this memory's type has. */
export const payloadOf = (memory) => Object.fromEntries(Object.entries(memory).filter(([name]) => !COMMON.has(name)));

export function MemoryPage({ id }) {
  const found = useData(() => Promise.all([get(pathOf`/memories/${id}`), get(pathOf`/memories/${id}/history`), get("/admin/types")]), [id]);
  if (isMissing(found)) return html`<${Missing} error=${found.error} list="memories" />`;
  return html`<${Loaded} of=${found}>${([memory, history, types]) => html`
    <${MemoryDetail} memory=${memory} history=${history} type=${types.types.find((one) => one.name === memory.type)} reload=${found.reload} />`}<//>`;
}

function MemoryDetail({ memory, history, type, reload }) {
  const session = useSession();
  const [receipt, setReceipt] = useState(null);
  const erase = (withTurns) => attempt(async () => setReceipt(await del(pathOf`/memories/${memory.id}`, withTurns ? { with_turns: true } : undefined)));
  if (receipt) return html`<${Receipt} receipt=${receipt} />`;
  const feedback = (value) => attempt(() => post(pathOf`/memories/${memory.id}/feedback`, { feedback: value }).then(reload), "Thank you: recorded.");
  const hidden = memory.status === "pending" && history.events.some((one) => tellsSecret(one.sentence));
  return html`<${PageTitle} aside=${html`<div class="actions">
      ${session.may("write") && html`
        <${Button} onClick=${() => feedback("useful")}>Useful<//><${Button} onClick=${() => feedback("not_useful")}>Not useful<//>
        <${Button} onClick=${() => feedback("wrong")}>Wrong<//>
        <${Confirm} label="Erase" title="Erase this memory?" text="The memory, its vectors, its evidence and its log entries go for good, and so do the sentences of turns that it was made of. Other memories made of the same turns stay: the receipt lists them, and the turns that still hold words of it."
          choice="Erase the turns that hold words of it, too" onConfirm=${erase} />`}
    </div>`}>Memory<//>
    <div class="stack">
      <${Card}><p class="said"><${Masked} hidden=${hidden}>${memory.content}<//></p>
        <div class="actions"><${Badge} text=${memory.status} /> <${Badge} text=${memory.type} tone="info" /> <${Badge} text=${memory.category} tone="plain" />
          ${memory.contested && html`<${Badge} text="contested" tone="warn" />`}
          ${memory.needs_review && html`<a href=${href(["review", memory.id.replace("mem_", "rev_")])}><${Badge} text=${`review: ${memory.review_reason}`} tone="warn" /></a>`}
        </div>
        <${Why} memory=${memory} events=${history.events} />
      <//>
      <div class="grid wide">
        <${Card} title="Fields"><${Masked} hidden=${hidden}><${Fields} memory=${memory} /><//><//>
        <${Card} title="Confidence and freshness"><${Trust} memory=${memory} type=${type} /><//>
      </div>
      <${Card} title="History on both clocks"><${Masked} hidden=${hidden}><${Timeline} versions=${history.versions} events=${history.events} current=${memory.id} /><//><//>
      <div class="grid wide">
        <${Card} title="Evidence"><${Masked} hidden=${hidden}><${Evidence} evidence=${memory.evidence} /><//><//>
        <${Card} title="Links and use"><${Links} memory=${memory} /><//>
      </div>
    </div>`;
}

/** Why the memory is in its state: the last event that changed it. */
function Why({ memory, events }) {
  const own = events.filter((one) => one.memory_id === memory.id && STATE_ACTIONS.test(one.action));
  const last = own[own.length - 1];
  if (!last) return null;
  return html`<p class="suggestion"><strong>Why is it ${memory.status}?</strong> <${Sentence} text=${last.sentence} /></p>`;
}

function Fields({ memory }) {
  const payload = Object.entries(payloadOf(memory)).map(([name, value]) => [words(name), typeof value === "object" && value !== null ? html`<${Json} value=${value} />` : String(value ?? "")]);
  const metadata = Object.keys(memory.metadata).length ? html`<${Json} value=${memory.metadata} />` : "";
  return html`<${Pairs} pairs=${[
    ...payload,
    ["topic", memory.topic], ["importance", fraction(memory.importance)],
    ["scope", memory.scope], ["user", memory.user_id && html`<a href=${href(["users", memory.user_id])}>${memory.user_id}</a>`],
    ["agent", memory.agent_id], ["session", memory.session_id && html`<a href=${href(["turns"], { session: memory.session_id })}>${memory.session_id}</a>`],
    ["stated", html`<${Time} at=${memory.occurred_at} />`], ["true from", html`<${Time} at=${memory.valid_from} />`],
    ["true until", memory.valid_until && when(memory.valid_until)], ["recorded", html`<${Time} at=${memory.recorded_at} />`],
    ["retired", memory.retired_at && when(memory.retired_at)], ["meant as", memory.speech_act], ["metadata", metadata],
    ["id", html`<code>${memory.id}</code> <${Copy} text=${memory.id} />`],
  ]} />`;
}

function Trust({ memory, type }) {
  const own = type && memory.category === type.category;
  const [halfLife, floor] = own ? [type.half_life_days, type.floor ?? 0] : (CATEGORIES[memory.category] ?? [null, 0]);
  const parts = WEIGHTS.map(([field, name, weight]) => [name, weight, memory.confidence_parts[field], weight * memory.confidence_parts[field]]);
  return html`
    <p><${Meter} value=${memory.confidence} label="confidence" /> confidence after ${amount(memory.confidence_parts.mentions, "mentions")}</p>
    <div class="parts" aria-hidden="true">${parts.map(([name, , , share], place) => html`<span class=${`plot-${place + 1}`} title=${name} style=${`width:${100 * share}%`}></span>`)}</div>
    <table><thead><tr><th>Part</th><th class="number">Weight</th><th class="number">Value</th><th class="number">Adds</th></tr></thead>
      <tbody>${parts.map(([name, weight, value, share], place) => html`<tr><td><span class="key"><i class="dot plot-${place + 1}"></i>${name}</span></td>
        <td class="number">${weight}</td><td class="number">${fraction(value)}</td><td class="number">${fraction(share)}</td></tr>`)}</tbody></table>
    <h3>Freshness</h3>
    <${FreshnessCurve} now=${memory.freshness} halfLife=${halfLife} floor=${floor} />`;
}

function Evidence({ evidence }) {
  if (!evidence.length) return html`<${Empty}>Written directly, without a turn.<//>`;
  return html`<ul class="talk">${evidence.map((one) => html`<li>
    ${one.quote ? html`<mark>${one.quote}</mark>` : html`<span class="muted">the whole turn</span>`}
    <small>${one.role}, ${when(one.occurred_at)} ${one.turn_id && html`· <a href=${href(["turns", one.turn_id])}>the turn</a>`}</small></li>`)}</ul>`;
}

function Links({ memory }) {
  return html`
    ${memory.links.length ? html`<ul>${memory.links.map((one) => html`<li>${one.direction === "in" ? `${words(one.kind)} this:` : `this ${words(one.kind)}`} <${MemoryLink} id=${one.memory_id} /></li>`)}</ul>` : html`<${Empty}>No links.<//>`}
    <${Pairs} pairs=${[
      ["replaced", memory.supersedes && html`<${MemoryLink} id=${memory.supersedes} />`],
      ["replaced by", memory.superseded_by && html`<${MemoryLink} id=${memory.superseded_by} />`],
      ["used", `${amount(memory.access_count, "times")}, in ${amount(memory.distinct_sessions, "sessions")}`],
      ["last used", memory.last_accessed_at && when(memory.last_accessed_at)],
      ["feedback", `${memory.useful_count} useful, ${memory.not_useful_count} not useful, ${memory.wrong_count} wrong`],
    ]} />`;
}

/** Versions as bars over the time when they were true; events as dots over the time when they were recorded. */
function Timeline({ versions, events, current }) {
  const now = Date.now();
  const [left, right] = useNarrow() ? [95, 335] : [150, 780];
  const starts = versions.map((one) => Date.parse(one.valid_from));
  const recorded = [...versions.map((one) => Date.parse(one.recorded_at)), ...events.map((one) => Date.parse(one.at))];
  const scale = (low, high) => (time) => left + ((Math.min(time, high) - low) / Math.max(1, high - low)) * (right - left);
  const valid = scale(Math.min(...starts), now);
  const known = scale(Math.min(...recorded), now);
  const dots = versions.length * 26 + 34;
  return html`<svg class="timeline" viewBox=${`0 0 ${right + 20} ${dots + 44}`} width=${right + 20} role="img" aria-label="Versions and events; the list below says the same">
    ${versions.map((one, place) => {
      const from = valid(Date.parse(one.valid_from));
      const to = valid(one.valid_until ? Date.parse(one.valid_until) : now);
      return html`<g><title>${one.content}</title><text x="0" y=${place * 26 + 17} class=${one.id === current ? "" : "faint"}>${one.status}</text>
        <rect class=${one.status === "active" ? "held" : "past"} x=${from} y=${place * 26 + 5} width=${Math.max(4, to - from)} height="16" rx="4"></rect></g>`;
    })}
    <line x1=${left} x2=${right} y1=${dots - 22} y2=${dots - 22} />
    <text x="0" y=${dots - 18} class="faint">true in the world</text>
    <text x=${left} y=${dots - 8} class="faint">${when(new Date(Math.min(...starts)).toISOString()).slice(0, 10)}</text><text x=${right} y=${dots - 8} class="faint end">today</text>
    <text x="0" y=${dots + 22} class="faint">recorded here</text><line x1=${left} x2=${right} y1=${dots + 18} y2=${dots + 18} />
    ${events.map((one) => html`<circle class="event" cx=${known(Date.parse(one.at))} cy=${dots + 18} r="5"><title>${one.sentence}</title></circle>`)}
    <text x=${left} y=${dots + 38} class="faint">${when(new Date(Math.min(...recorded)).toISOString()).slice(0, 10)}</text><text x=${right} y=${dots + 38} class="faint end">now</text>
  </svg>
  <h3>Versions</h3><ul>${versions.map((one) => html`<li><${Badge} text=${one.status} /> ${one.id === current ? one.content : html`<${MemoryLink} id=${one.id}>${one.content}<//>`}
    <span class="muted small"> true from ${when(one.valid_from)}${one.valid_until ? ` until ${when(one.valid_until)}` : ""}</span></li>`)}</ul>
  <h3>Events</h3><ul class="talk">${events.map((one) => html`<li key=${one.id}><${Sentence} text=${one.sentence} /><small>by ${one.actor}, ${when(one.at)}</small></li>`)}</ul>`;
}

/** What an erasure did, with the digest to check it by. */
export function Receipt({ receipt }) {
  const session = useSession();
  const [checked, setChecked] = useState(null);
  const check = () => attempt(async () => setChecked(await get(pathOf`/admin/erasures/${receipt.id}`, { ids: true })));
  const shown = checked ?? receipt;
  return html`<${PageTitle}>Erased<//><${Card} title="Receipt" actions=${session.may("admin") && html`<${Button} onClick=${check}>Check again<//>`}>
    <${Pairs} pairs=${[
      ["receipt", html`<code>${shown.id}</code>`], ["status", html`<${Badge} text=${shown.status} />`], ["finished", shown.finished_at && when(shown.finished_at)],
      ["erased", Object.entries(shown.counts ?? {}).filter(([, count]) => count).map(([name, count]) => `${count} ${words(name)}`).join(", ")],
      ["still there", shown.still_there ?? (checked ? "0" : "")], ["kept", receipt.kept?.length ? html`<${Kept} ids=${receipt.kept} />` : ""],
      ["turns that still hold words of it", receipt.turns?.length ? html`<ul>${receipt.turns.map((id) => html`<li><code>${id}</code></li>`)}</ul>` : ""],
      ["kept without a turn that says it", receipt.unsupported?.length ? html`<ul>${receipt.unsupported.map((id) => html`<li><${MemoryLink} id=${id}>${id}<//></li>`)}</ul>` : ""],
      ["digest", shown.digest && html`<code>${shown.digest}</code>`],
    ]} /><//>`;
}

/** What else was made of the turns of an erased memory, and may say the same. */
function Kept({ ids }) {
  const found = useData(() => Promise.all(ids.map((id) => get(pathOf`/memories/${id}`))), [ids]);
  return html`Made of the same turn. Erase those that say the same, too:
    <${Loaded} of=${found}>${(kept) => html`<ul>${kept.map((one) => html`<li><${MemoryLink} id=${one.id}>${one.content}<//> <${Badge} text=${one.type} tone="plain" /></li>`)}</ul>`}<//>`;
}
