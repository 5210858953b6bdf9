// Turns: what was said, what each stage of the pipeline made of it, and a sandbox that stores nothing.

import { html, useState } from "../vendor/preact.js";
import { get, pathOf, request } from "../lib/api.js";
import { amount, fraction, instant, sum, words } from "../lib/format.js";
import { attempt, href, notify, useData, useFilters, usePages, useSession, useSettled, withScopes } from "../lib/hooks.js";
import { Badge, Button, Card, Copy, Empty, Failure, Field, HIDDEN, Loaded, LongList, Marked, Masked, MemoryLink, Missing, PageTitle, Pairs, Table, Time, firstWrite, isMissing, noRows, tellsSecret } from "../lib/ui.js";

const STATUSES = ["", "processed", "skipped", "extraction_failed", "received"];

const holdsSecret = (turn) => turn.candidates.some((one) => tellsSecret(one.reason));

export function TurnsPage({ parts }) {
  if (parts[0] === "try") return html`<${Sandbox} />`;
  return parts.length ? html`<${TurnPage} key=${parts[0]} id=${parts[0]} />` : html`<${TurnList} />`;
}

function TurnList() {
  const session = useSession();
  const [filters, change] = useFilters(["turns"]);
  const owner = useSettled(filters.owner ?? "");
  const name = useSettled(filters.session ?? "");
  const pages = usePages("/turns", withScopes(session, { owner, session_id: name, status: filters.status, limit: 100 }), "turns");
  return html`<${PageTitle} aside=${session.may("write") && html`<a class="button" href=${href(["turns", "try"])}>Add a turn</a>`}>Turns<//>
    <div class="filters">
      <${Field} label="User" value=${filters.owner} onChange=${(value) => change({ owner: value })} />
      <${Field} label="Session" value=${filters.session} onChange=${(value) => change({ session: value })} />
      <${Field} label="Status" type="select" value=${filters.status} onChange=${(status) => change({ status })} options=${STATUSES.map((one) => [one, words(one) || "every status"])} />
    </div>
    <${Failure} error=${pages.error} />
    ${!pages.items.length && !pages.error && html`<${Card}><${Empty}>${noRows(pages, filters, "turn", firstWrite(session))}<//><//>`}
    ${pages.items.length > 0 && html`<${LongList} label="Turns" items=${pages.items} rowHeight=${60} more=${pages.more} onEnd=${pages.loadMore} row=${(one) => html`
      <a class="row" href=${href(["turns", one.id])}><span class="row-text">${holdsSecret(one) ? HIDDEN : one.content}</span>
        <span class="row-meta"><${Badge} text=${one.status} /> ${one.speaker ?? one.role} ${one.user_id} · <${Time} at=${one.occurred_at} />
          <span class="row-text">${one.reason ?? amount(one.candidates.length, "candidates")}</span></span></a>`} />`}`;
}

function TurnPage({ id }) {
  const session = useSession();
  const found = useData(() => get(pathOf`/turns/${id}`), [id]);
  const [again, setAgain] = useState(null);
  const replay = (dry) => attempt(async () => {
    const done = await request("POST", pathOf`/turns/${id}/replay`, { query: { mode: "sync", dry_run: dry } });
    if (dry) setAgain(done.turns[0]);
    else await found.reload();
  }, dry ? null : "Replayed.");
  const aside = found.data && session.may("write") && html`<div class="actions"><${Button} onClick=${() => replay(true)}>Replay without storing<//><${Button} onClick=${() => replay(false)}>Replay<//></div>`;
  if (isMissing(found)) return html`<${Missing} error=${found.error} list="turns" />`;
  return html`<${PageTitle} aside=${aside}>Turn<//><${Loaded} of=${found}>${(turn) => html`<div class="stack">
    <${Card}><p class="said"><${Masked} hidden=${holdsSecret(turn)}><${Marked} text=${turn.content} quotes=${turn.candidates.map((one) => one.quote)} /><//></p>
      <${Pairs} pairs=${[
        ["status", html`<${Badge} text=${turn.status} /> ${turn.reason ?? ""}`], ["said by", turn.speaker ?? turn.role], ["user", turn.user_id && html`<a href=${href(["users", turn.user_id])}>${turn.user_id}</a>`],
        ["agent", turn.agent_id], ["session", turn.session_id && html`<a href=${href(["turns"], { session: turn.session_id })}>${turn.session_id}</a>`],
        ["occurred", html`<${Time} at=${turn.occurred_at} />`], ["recorded", html`<${Time} at=${turn.recorded_at} />`], ["id", html`<code>${turn.id}</code> <${Copy} text=${turn.id} />`],
      ]} /><//>
    <${Outcome} turn=${turn} />
    ${again && html`<h2>The same turn again, nothing stored</h2><${Outcome} turn=${again} dry />`}
  </div>`}<//>`;
}

/** What became of a turn: each stage with what it let through, each candidate with its decision. */
export function Outcome({ turn, dry }) {
  const total = Math.max(0.001, sum(Object.fromEntries(turn.trace.map((one) => [one.stage, one.took_ms]))));
  return html`<div class="grid wide">
    <${Card} title="Pipeline">${turn.trace.length ? html`<ol class="stages">${turn.trace.map((one) => html`<li>
      <strong>${words(one.stage)}</strong><span class="muted">${one.seen} → ${one.kept}</span>
      <span class="bar-track" aria-hidden="true"><span class="bar-fill" style=${`width:${(100 * one.took_ms) / total}%`}></span></span><span class="number">${one.took_ms.toFixed(1)} ms</span>
      ${[...one.dropped, ...one.notes].length > 0 && html`<span class="notes">
        ${one.dropped.map((gone) => html`<div>${gone.what}: ${gone.reason}</div>`)}${one.notes.map((note) => html`<div>${note}</div>`)}</span>`}
    </li>`)}</ol>` : html`<${Empty}>${turn.reason ?? "Not processed yet."}<//>`}<//>
    <${Card} title="Candidates"><${Table} label="Candidates" rows=${turn.candidates} empty=${turn.reason ?? "None was proposed."} columns=${[
      { title: "Memory", cell: (one) => html`<${Masked} hidden=${!dry && tellsSecret(one.reason)}>${one.memory_id && !dry ? html`<${MemoryLink} id=${one.memory_id}>${one.content}<//>` : one.content}
        ${one.quote && html`<div class="small muted">“${one.quote}”</div>`}<//>` },
      { title: "Type", cell: (one) => words(one.type) },
      { title: "Decision", cell: (one) => html`<${Badge} text=${one.decision} /><div class="small muted">${one.reason}</div>` },
      { title: "Confidence", number: true, cell: (one) => fraction(one.confidence) },
    ]} /><//></div>`;
}

/** What a turn would come to, and then the turn itself. */
function Sandbox() {
  const [form, setForm] = useState({ content: "", role: "user", user_id: "", session_id: "", occurred_at: "" });
  const [done, setDone] = useState(null);
  const [error, setError] = useState(null);
  const set = (name) => (value) => (setForm((old) => ({ ...old, [name]: value })), setDone(null));
  const given = () => Object.fromEntries(Object.entries({ ...form, occurred_at: instant(form.occurred_at) }).filter(([, value]) => value));
  const send = async (dry) => {
    setError(null);
    try {
      const found = await request("POST", "/turns", { query: { mode: "sync", dry_run: dry }, body: given() });
      if (dry) return setDone(found);
      notify("Stored.");
      return (location.hash = href(["turns", found.turns[0].id]));
    } catch (failed) {
      return setError(failed);
    }
  };
  return html`<${PageTitle}>Add a turn<//>
    <div class="stack"><form class="card stack" onSubmit=${(event) => (event.preventDefault(), send(true))}>
      <${Field} label="What is said" type="textarea" value=${form.content} onChange=${set("content")} required placeholder="I moved to Porto last week and I love the sea." />
      <div class="filters">
        <${Field} label="Said by" type="select" value=${form.role} onChange=${set("role")} options=${["user", "assistant", "tool"]} />
        <${Field} label="User" value=${form.user_id} onChange=${set("user_id")} hint="empty: for everyone" /><${Field} label="Session" value=${form.session_id} onChange=${set("session_id")} />
        <${Field} label="When" type="datetime-local" value=${form.occurred_at} onChange=${set("occurred_at")} />
      </div>
      <${Failure} error=${error} />
      <div class="actions"><button class="button primary" type="submit">Run without storing</button>
        ${done && html`<${Button} onClick=${() => send(false)}>Store it<//>`}</div>
    </form>
    ${done && done.turns.map((turn) => html`<${Outcome} turn=${turn} dry />`)}
    ${done?.extraction && html`<${Wanted} of=${done.extraction} />`}</div>`;
}

/** The instructions that a dry run followed. */
export const Wanted = ({ of }) => html`<${Card} title="Instructions that apply"><${Pairs} pairs=${[
  ["in words", of.instructions.length > 0 && html`<ul>${of.instructions.map((one) => html`<li>${one}</li>`)}</ul>`], ["above all", of.include.join(", ")], ["never", of.exclude.join(", ")],
  ["enforced by name", of.named.join(", ")], ["the model is shown", of.told === null ? "nothing: the built-in rules read no words" : html`<pre>${of.told}</pre>`],
]} /><//>`;
