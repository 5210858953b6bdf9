// Users: who has memories, what is known of one, sessions, export, erasure.

import { html, useState } from "../vendor/preact.js";
import { download, get, pathOf, request } from "../lib/api.js";
import { noun, number } from "../lib/format.js";
import { attempt, href, useData, useFilters, usePages, useSession, useSettled, withScopes } from "../lib/hooks.js";
import { Button, Card, Confirm, Failure, Field, HIDDEN, Loaded, PageTitle, Table, Time, noRows, tellsSecret } from "../lib/ui.js";
import { MemoriesOf } from "./memories.js";
import { Receipt } from "./memory.js";

export const UsersPage = ({ parts }) => (parts.length ? html`<${UserPage} key=${parts[0]} id=${parts[0]} />` : html`<${UserList} />`);

function UserList() {
  const session = useSession();
  const [filters, change] = useFilters(["users"]);
  const text = useSettled(filters.q ?? "");
  const kind = filters.kind === "agents" ? "agents" : "users";
  const pages = usePages(pathOf`/${kind}`, withScopes(session, { q: text, limit: 100 }), kind);
  const field = kind === "users" ? "user_id" : "agent_id";
  return html`<${PageTitle}>Users<//>
    <div class="filters"><div class="wide"><${Field} label="Search" type="search" value=${filters.q} onChange=${(q) => change({ q })} placeholder="part of an id" /></div>
      <${Field} label="List" type="select" value=${kind} onChange=${(one) => change({ kind: one })} options=${["users", "agents"]} /></div>
    <${Failure} error=${pages.error} />
    <${Card}><${Table} label=${kind} rows=${pages.items} empty=${noRows(pages, { q: filters.q }, noun(1, kind), `None yet: ${kind} appear with their first memory or turn.`)} columns=${[
      { title: "Id", cell: (one) => (kind === "users" ? html`<a href=${href(["users", one.user_id])}>${one.user_id}</a>` : html`<span>${one[field]}</span>`) },
      { title: "Memories", number: true, cell: (one) => number(one.memories) },
      { title: "Active", number: true, cell: (one) => number(one.active) },
      { title: "Waiting", number: true, cell: (one) => one.waiting || "" },
      { title: "Turns", number: true, cell: (one) => number(one.turns) },
      { title: "Last active", cell: (one) => html`<${Time} at=${one.last_active_at} relative />` },
    ]} />${pages.more && html`<${Button} onClick=${pages.loadMore}>More<//>`}<//>`;
}

function UserPage({ id }) {
  const session = useSession();
  const [receipt, setReceipt] = useState(null);
  const counts = useData(() => get("/memories/count", { owner: id, validity: "any" }), [id]);
  if (receipt) return html`<${Receipt} receipt=${receipt} />`;
  const erase = () => attempt(async () => setReceipt(await request("DELETE", pathOf`/users/${id}`, { query: { mode: "sync" } })));
  return html`<${PageTitle} aside=${counts.data && session.may("admin") && html`<div class="actions">
      <${Button} onClick=${() => attempt(() => download("/export", { user_id: id }, `${id}.ndjson`))}>Export<//>
      <${Confirm} label="Erase user" title=${`Erase everything of ${id}?`} word=${id} onConfirm=${erase}
        text="Memories, turns, vectors, names and log entries of this user go for good, in every scope. You get a receipt that can be checked later." />
    </div>`}>${id}<//>
    <${Loaded} of=${counts}>${(data) => html`<div class="numbers">
      <a class="figure" href=${href(["memories"], { owner: id })}><b>${number(data.total)}</b>${noun(data.total, "memories")}</a>
      ${Object.entries(data.by_status).map(([status, count]) => html`<a class="figure" href=${href(["memories"], { owner: id, status })}><b>${number(count)}</b>${status}</a>`)}
    </div>`}<//>
    <div class="grid wide">
      <${MemoriesOf} title="What holds now" query=${{ owner: id, status: "active", type: ["fact", "preference", "relation", "medication", "constraint"], sort: "-confidence" }} to=${{ owner: id, status: "active" }} limit=${15} />
      <div class="stack">
        ${session.may("admin") && html`<${Waiting} id=${id} />`}
        <${Sessions} id=${id} />
        <${Entities} id=${id} />
        <${MemoriesOf} title="Events" query=${{ owner: id, type: ["event", "plan"], sort: "-occurred_at" }} to=${{ owner: id, type: "event" }} limit=${6} />
      </div>
    </div>`;
}

function Waiting({ id }) {
  const found = useData(() => get("/admin/review", { user_id: id, limit: 20 }), [id]);
  return html`<${Loaded} of=${found}>${({ items }) => items.length > 0 && html`<${Card} title="Waiting for review">
    <ul>${items.map((one) => html`<li><a href=${href(["review", one.id])}>${tellsSecret(one.note) ? HIDDEN : one.memory.content}</a></li>`)}</ul><//>`}<//>`;
}

/** The name of a turn that was sent without a session; it is one of its own. */
const OF_ONE_TURN = /^turn_[0-9a-f]{32}$/;

function Sessions({ id }) {
  const pages = usePages("/sessions", { owner: id, limit: 50 }, "sessions");
  const rows = pages.items.filter((one) => !OF_ONE_TURN.test(one.session_id)).sort((a, b) => b.last_at.localeCompare(a.last_at));
  return html`<${Card} title="Sessions"><${Failure} error=${pages.error} />
    <${Table} label="Sessions" rows=${rows} empty=${pages.loading ? "Loading…" : "No session."} columns=${[
      { title: "Session", cell: (one) => html`<a href=${href(["turns"], { session: one.session_id, owner: id })}>${one.session_id}</a>` },
      { title: "Turns", number: true, cell: (one) => number(one.turns) },
      { title: "Memories", number: true, cell: (one) => number(one.memories) },
      { title: "Last", cell: (one) => html`<${Time} at=${one.last_at} />` },
    ]} />${pages.more && html`<${Button} onClick=${pages.loadMore}>More<//>`}<//>`;
}

function Entities({ id }) {
  const pages = usePages("/entities", { owner: id, limit: 40 }, "entities");
  if (!pages.items.length) return null;
  return html`<${Card} title="Entities"><div class="actions">${pages.items.map((one) => html`<a href=${href(["entities", one.id])}>${one.canonical_name}</a>`)}</div><//>`;
}
