// Memories: search and facets, at any time of both clocks.

import { html, useEffect, useState } from "../vendor/preact.js";
import { get } from "../lib/api.js";
import { DAY_MS, day, fraction, instant, number, words } from "../lib/format.js";
import { href, useData, useFilters, usePages, useSession, useSettled, withScopes } from "../lib/hooks.js";
import { Badge, Card, Empty, Failure, Field, LongList, PageTitle, Time, firstWrite, noRows } from "../lib/ui.js";
import { MemoryPage } from "./memory.js";
import { NewMemory } from "./new-memory.js";

const STATUSES = ["", "active", "superseded", "expired", "pending", "forgotten"];
const SORTS = [["-recorded_at", "newest first"], ["recorded_at", "oldest first"], ["-occurred_at", "latest stated"], ["-importance", "most important"], ["-confidence", "most confident"]];
const ROW = 60;
const SLIDER_DAYS = 730;

export function MemoriesPage({ parts }) {
  if (parts[0] === "new") return html`<${NewMemory} />`;
  return parts.length ? html`<${MemoryPage} key=${parts[0]} id=${parts[0]} />` : html`<${MemoryList} />`;
}

/** Return what the filters of the address ask the API for. */
function asked(filters) {
  return {
    q: filters.q, owner: filters.owner, type: filters.type, status: filters.status, topic: filters.topic,
    session_id: filters.session, entity: filters.entity, predicate: filters.predicate, sort: filters.sort,
    as_of: instant(filters.as_of), known_at: instant(filters.known_at), validity: filters.as_of ? undefined : "any",
  };
}

function MemoryList() {
  const session = useSession();
  const [filters, change] = useFilters(["memories"]);
  const [text, setText] = useState(filters.q ?? "");
  const settled = useSettled(text);
  useEffect(() => {
    const id = settled.trim();
    if (/^mem_[0-9a-f]{32}$/.test(id)) location.hash = href(["memories", id]);
    else if (settled !== (filters.q ?? "")) change({ q: settled });
  }, [settled]);
  const query = withScopes(session, asked(filters));
  const pages = usePages("/memories", { ...query, limit: 100 }, "memories");
  const { sort: _, ...counted } = query;
  const counts = useData(() => get("/memories/count", counted), [JSON.stringify(counted)]);
  const types = useData(() => get("/admin/types"), []);
  const names = (types.data?.types ?? []).map((one) => one.name).sort();
  const found = counts.data && `${number(counts.data.total)}${counts.data.capped ? "+" : ""} found`;
  return html`<${PageTitle} aside=${html`<div class="actions"><span class="muted" role="status">${found}</span>
      ${session.may("write") && html`<a class="button" href=${href(["memories", "new"])}>Add a memory</a>`}</div>`}>Memories<//>
    <div class="filters" role="search">
      <div class="wide"><${Field} label="Search" type="search" value=${text} onChange=${setText} placeholder="words in the text, or an id" /></div>
      <${Field} label="User" value=${filters.owner} onChange=${(owner) => change({ owner })} />
      <${Field} label="Type" type="select" value=${filters.type} onChange=${(type) => change({ type })} options=${[["", "every type"], ...names]} />
      <${Field} label="Status" type="select" value=${filters.status} onChange=${(status) => change({ status })} options=${STATUSES.map((one) => [one, one || "all but pending"])} />
      <${Field} label="Predicate" value=${filters.predicate} onChange=${(predicate) => change({ predicate })} placeholder="lives-in" />
      <${Field} label="Session" value=${filters.session} onChange=${(session) => change({ session })} />
      <${Field} label="Order" type="select" value=${filters.sort ?? SORTS[0][0]} onChange=${(sort) => change({ sort })} options=${SORTS} />
      <${Clock} label="True at" value=${filters.as_of} onChange=${(as_of) => change({ as_of })} />
      <${Clock} label="Believed at" value=${filters.known_at} onChange=${(known_at) => change({ known_at })} />
    </div>
    ${counts.data && html`<${Facets} counts=${counts.data} filters=${filters} change=${change} />`}
    <${Failure} error=${pages.error} />
    ${!pages.items.length && !pages.error && html`<${Card}><${Empty}>${noRows(pages, filters, "memory", firstWrite(session))}<//><//>`}
    ${pages.items.length > 0 && html`<${LongList} label="Memories" items=${pages.items} rowHeight=${ROW} more=${pages.more} onEnd=${pages.loadMore}
      row=${(one) => html`<${MemoryRow} memory=${one} />`} />`}`;
}

function Facets({ counts, filters, change }) {
  const facet = (name, found) => Object.entries(found).sort((a, b) => b[1] - a[1]).slice(0, 9).map(([value, count]) => html`
    <button type="button" class="button" aria-pressed=${filters[name] === value} onClick=${() => change({ [name]: filters[name] === value ? "" : value })}>
      ${words(value)} <span class="muted">${number(count)}</span></button>`);
  return html`<div class="bulk" role="group" aria-label="Narrow by type">${facet("type", counts.by_type)}</div>`;
}

/** A date with a slider beside it: the last two years. */
function Clock({ label, value, onChange }) {
  const today = Date.now();
  const back = value ? Math.round((today - Date.parse(instant(value))) / DAY_MS) : 0;
  const [moved, setMoved] = useState(null);
  const settled = useSettled(moved, 200);
  useEffect(() => {
    if (settled !== null) onChange(settled === 0 ? "" : day(new Date(today - settled * DAY_MS).toISOString()));
  }, [settled]);
  return html`<div>
    <${Field} label=${label} type="date" value=${value} onChange=${onChange} />
    <input type="range" min=${-SLIDER_DAYS} max="0" value=${-(moved ?? back)} aria-label=${`${label}: days before today`}
      onInput=${(event) => setMoved(-Number(event.target.value))} />
  </div>`;
}

/** A memory in a list: its sentence, and what it is. */
export function MemoryRow({ memory }) {
  return html`<a class="row" href=${href(["memories", memory.id])}>
    <span class="row-text">${memory.status === "pending" && memory.review_reason === "doubtful" ? "•••••••• open it to see" : memory.content}</span>
    <span class="row-meta"><${Badge} text=${memory.status} /> ${words(memory.type)}
      <span title="confidence">${fraction(memory.confidence)}</span>
      ${memory.user_id && html`<span>${memory.user_id}</span>`}
      <${Time} at=${memory.occurred_at} />
      ${memory.needs_review && html`<${Badge} text="waits for review" tone="warn" />`}</span>
  </a>`;
}

/** The memories that a query of the API lists, in a card. */
export function MemoriesOf({ title, query, to, limit = 12 }) {
  const session = useSession();
  const pages = usePages("/memories", { ...withScopes(session, query), limit }, "memories");
  const link = to && session.may("read") ? html`<a href=${href(["memories"], to)}>All</a>` : null;
  return html`<${Card} title=${title} actions=${link}>
    <${Failure} error=${pages.error} />
    ${pages.items.map((one) => html`<${MemoryRow} key=${one.id} memory=${one} />`)}
    ${!pages.loading && !pages.items.length && html`<${Empty}>None.<//>`}
    ${pages.more && html`<button type="button" class="button" onClick=${pages.loadMore}>More</button>`}
  <//>`;
}
