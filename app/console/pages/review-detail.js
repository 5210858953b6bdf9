// One review item: both sides, where they were said, what accepting would change, and the actions.

import { html, useLayoutEffect, useState } from "../vendor/preact.js";
import { get, pathOf, post } from "../lib/api.js";
import { ago, when, words } from "../lib/format.js";
import { href, notify, useData } from "../lib/hooks.js";
import { Badge, Button, Card, Empty, Field, Loaded, Marked, Masked, MemoryLink, Meter, Time, isMissing, tellsSecret } from "../lib/ui.js";

const REVIEWER = "typed-memory.reviewer";
const GAIN = /added|active|accepted|uncontested|revived/;
const LOSS = /superseded|forgotten|rejected|expired|ended/;

/** The item of an id; `shown` is a ref that holds {item, other, offered}, the item, the chosen other side and the actions, while it can be decided here. */
export function ReviewDetail({ id, version, shown, act, settle }) {
  const found = useData(() => get(pathOf`/admin/review/${id}`), [id, version]);
  if (isMissing(found)) return html`<${Card} title="Not found"><p>${found.error.message}</p><//>`;
  return html`<div class="stack" aria-live="polite"><${Loaded} of=${found}>${(detail) =>
    detail.open ? html`<${Open} detail=${detail} shown=${shown} act=${act} settle=${settle} />` : html`<${Decided} detail=${detail} reload=${found.reload} />`}<//></div>`;
}

function Decided({ detail, reload }) {
  const { decided, memory } = detail;
  const undo = () => post(pathOf`/admin/review/${detail.id}/undo`, {})
    .then(() => (notify("Undone: it waits again."), dispatchEvent(new Event("reviewed")), reload()))
    .catch((error) => notify(error.message, { bad: true, seconds: 10 }));
  return html`<${Card} title="Decided already"><p class="said">${memory?.content ?? "The memory is gone."}</p>
    <p>${words(decided.event)} by ${decided.by}, ${when(decided.at)}. ${memory && html`<${MemoryLink} id=${memory.id}>Its history<//>`}</p>
    ${decided.event === "review.decided" && html`<div class="actions"><${Button} onClick=${undo}>Undo the decision<//></div>`}<//>`;
}

function Open({ detail, shown, act, settle }) {
  const { item } = detail;
  const hidden = tellsSecret(item.note);
  const [other, setOther] = useState(item.suggestion.with ?? item.sides[0]?.memory.id);
  useLayoutEffect(() => {
    shown.current = { item, other, offered: offeredFor(item) };
    return () => (shown.current = null);
  }, [item, other]);
  return html`
    <${Card} title=${html`${words(item.reason)} · came up ${ago(item.since)}`} actions=${html`<${MemoryLink} id=${item.memory.id}>Open the memory<//>`}>
      ${item.note && html`<p>${item.note}</p>`}
      <div class="sides">
        <${Side} title="New" memory=${item.memory} className="new" hidden=${hidden} />
        ${item.sides.map((side) => html`<${Side} title=${side.relation === "contradicts" ? "Stands against" : words(side.relation)} memory=${side.memory} same=${side.same_value} />`)}
      </div>
      <h3>What accepting would change</h3>
      <${Masked} hidden=${hidden}><${Changes} detail=${detail} /><//>
      <p class="suggestion"><strong>Suggested: ${words(item.suggestion.action)}.</strong> ${item.suggestion.reason}</p>
      <${Actions} item=${item} other=${other} setOther=${setOther} act=${act} />
    <//>
    <${Notes} id=${item.id} />
    <${Card} title="Where it was said"><${Masked} hidden=${hidden}><${Passages} passages=${detail.evidence} /><//><//>
    ${detail.near.length > 0 && html`<${Card} title="Near duplicates"><ul class="near">${detail.near.map((one) => html`<li>
      <${MemoryLink} id=${one.memory.id}>${one.memory.content}<//> <${Meter} value=${one.similarity} label="similarity" />
      <span class="actions"><${Button} onClick=${() => settle(item, "merge", { with: one.memory.id })}>Merge into this<//>
        <${Button} onClick=${() => settle(item, "supersede_with", { with: one.memory.id })}>Replaced by this<//></span></li>`)}</ul><//>`}`;
}

/** Who has claimed the item, and comments of reviewers. */
function Notes({ id }) {
  const [name, setName] = useState(sessionStorage.getItem(REVIEWER) ?? "");
  const [comment, setComment] = useState("");
  const [notes, setNotes] = useState(null);
  const found = useData(() => get(pathOf`/admin/review/${id}/notes`), [id]);
  const send = (path, body) => {
    sessionStorage.setItem(REVIEWER, name);
    post(pathOf`/admin/review/${id}/${path}`, { ...body, ...(name && { reviewer: name }) }).then((sent) => (setNotes(sent), setComment("")))
      .catch((error) => notify(error.message, { bad: true, seconds: 10 }));
  };
  return html`<${Card} title="Reviewers"><${Loaded} of=${found}>${(read) => {
    const { claim, comments } = notes ?? read;
    return html`<p>${claim ? html`Claimed by <strong>${claim.reviewer}</strong> until <${Time} at=${claim.until} />.` : "Nobody has claimed it."}</p>
      ${comments.length > 0 && html`<ul>${comments.map((one) => html`<li>${one.comment} <small>${one.reviewer} · ${when(one.created_at)}</small></li>`)}</ul>`}
      <div class="filters"><${Field} label="Your name" value=${name} onChange=${setName} placeholder="the key's name" />
        <${Field} label="Comment" value=${comment} onChange=${setComment} /></div>
      <div class="actions"><${Button} disabled=${!comment.trim()} onClick=${() => send("comments", { comment })}>Comment<//>
        <${Button} onClick=${() => send("claim", { release: Boolean(claim) })}>${claim ? "Give up the claim" : "Claim"}<//></div>`;
  }}<//><//>`;
}

function Side({ title, memory, className = "", same, hidden }) {
  const quote = memory.evidence.find((one) => one.quote)?.quote;
  return html`<article class="side ${className}">
    <div class="actions"><strong>${title}</strong><${Badge} text=${memory.status} />${same && html`<${Badge} text="same value" tone="info" />`}</div>
    <${Masked} hidden=${hidden}><blockquote>${memory.content}</blockquote>
    ${quote && html`<p class="small"><mark>${quote}</mark></p>`}<//>
    <div class="row-meta"><${Meter} value=${memory.confidence} label="confidence" /> <span>stated <${Time} at=${memory.occurred_at} /></span></div>
    <div class="row-meta"><${Badge} text=${memory.type} tone="plain" /> ${memory.user_id && html`<a href=${href(["users", memory.user_id])}>${memory.user_id}</a>`}
      ${memory.confidence_parts.mentions > 1 && html`<span>${memory.confidence_parts.mentions} mentions</span>`}</div>
  </article>`;
}

/** What accepting comes to, a line a memory: what is believed then, and what no longer is. */
function Changes({ detail }) {
  const { item, if_accepted: foreseen } = detail;
  const known = new Map([item.memory, ...item.sides.map((side) => side.memory)].map((one) => [one.id, one.content]));
  if (foreseen) {
    return html`<ul class="diff"><li class="gain">+ ${known.get(foreseen.memory_id) ?? item.memory.content} <span class="small">(${words(foreseen.outcome)})</span></li>
      ${foreseen.affected.map((one) => html`<li class=${LOSS.test(one.change) ? "loss" : GAIN.test(one.change) ? "gain" : "same"}>
        ${LOSS.test(one.change) ? "−" : "="} ${known.get(one.memory_id) ?? html`<${MemoryLink} id=${one.memory_id} />`} <span class="small">(${words(one.change)})</span></li>`)}</ul>`;
  }
  if (item.memory.status === "pending") return html`<${Empty}>It cannot be believed as it is: reject it, or supersede it.<//>`;
  if (item.memory.status !== "active") return html`<ul class="diff"><li class="same">= ${item.memory.content} <span class="small">(stays ${item.memory.status}, leaves the queue)</span></li></ul>`;
  const rivals = item.sides.filter((side) => side.relation === "contradicts" && !side.same_value);
  return html`<ul class="diff"><li class="gain">+ ${item.memory.content} <span class="small">(holds)</span></li>
    ${rivals.map((side) => html`<li class="loss">− ${side.memory.content} <span class="small">(superseded)</span></li>`)}</ul>`;
}

/** The actions that an item offers, as buttons and as keys. */
function offeredFor(item) {
  const believed = item.memory.status !== "pending";
  const sided = item.sides.length > 0;
  return new Set(["accept", "reject", ...(believed && sided ? ["keep_both"] : []), ...(sided ? ["supersede_with", "merge"] : []), ...(believed ? ["end"] : [])]);
}

function Actions({ item, other, setOther, act }) {
  const offered = offeredFor(item);
  const button = (action, label, key, kind = "") => {
    const suggested = item.suggestion.action === action;
    return offered.has(action) && html`<${Button} kind=${suggested ? "primary" : kind} onClick=${() => act(action, item, other)}
      aria-keyshortcuts=${key}>${label}<kbd aria-hidden="true">${key}</kbd><//>`;
  };
  return html`<div class="deciding stack">
    ${item.sides.length > 1 && html`<${Field} label="The other side" type="select" value=${other} onChange=${setOther}
      options=${item.sides.map((side) => [side.memory.id, side.memory.content])} />`}
    <div class="actions">
      ${button("accept", "Accept", "a")} ${button("reject", "Reject", "r", "danger")}
      ${button("keep_both", "Keep both", "b")} ${button("supersede_with", "Supersede with the other", "s")} ${button("merge", "Merge", "m")}
      ${button("end", "End since…", "e")}
    </div></div>`;
}

function Passages({ passages }) {
  if (!passages.length) return html`<${Empty}>It was written directly, without a turn.<//>`;
  return passages.map((one) => html`<ul class="talk">
    ${one.before.map((turn) => html`<${Spoken} turn=${turn} />`)}
    ${one.turn ? html`<${Spoken} turn=${one.turn} quote=${one.quote ?? one.turn.content} main />` : html`<li class="key-turn">${one.quote ? html`<mark>${one.quote}</mark>` : "The turn is not kept."}<small>${one.role} · ${when(one.occurred_at)}</small></li>`}
    ${one.after.map((turn) => html`<${Spoken} turn=${turn} />`)}
  </ul>`);
}

const Spoken = ({ turn, quote, main }) => html`<li class=${main ? "key-turn" : ""}><${Marked} text=${turn.content} quotes=${main ? [quote] : []} />
  <small>${turn.speaker ?? turn.role} · ${when(turn.occurred_at)} ${main && html`· <a href=${href(["turns", turn.turn_id])}>the turn</a>`}</small></li>`;
