// Entities: names, memories of every type, a picture of what surrounds them, merge and unmerge.

import { html, useState } from "../vendor/preact.js";
import { get, pathOf, post } from "../lib/api.js";
import { number, words } from "../lib/format.js";
import { attempt, href, useData, useFilters, usePages, useSession, useSettled, useSifted, withScopes } from "../lib/hooks.js";
import { Badge, Button, Card, Confirm, Empty, Failure, Field, Json, Loaded, Missing, PageTitle, Pairs, Table, Time, isMissing, noRows } from "../lib/ui.js";
import { MemoriesOf } from "./memories.js";

const MOST_DRAWN = 18;
/** The name by which each user's own memories name them. */
const USER = "user";

export const EntitiesPage = ({ parts }) => (parts.length ? html`<${EntityPage} key=${parts[0]} id=${parts[0]} />` : html`<${EntityList} />`);

function EntityList() {
  const session = useSession();
  const [filters, change] = useFilters(["entities"]);
  const prefix = useSettled(filters.q ?? "");
  const owner = useSettled(filters.owner ?? "");
  const pages = usePages("/entities", withScopes(session, { prefix, owner, entity_type: filters.type, limit: 100 }), "entities");
  const every = filters.users === "yes" || prefix;
  const rows = useSifted(pages, (one) => every || one.canonical_name !== USER);
  return html`<${PageTitle}>Entities<//>
    <div class="filters">
      <div class="wide"><${Field} label="Search" type="search" value=${filters.q} onChange=${(q) => change({ q })} placeholder="a name begins with" /></div>
      <${Field} label="User" value=${filters.owner} onChange=${(value) => change({ owner: value })} />
      <${Field} label="Type" value=${filters.type} onChange=${(type) => change({ type })} placeholder="person" />
      <${Field} type="checkbox" label="Users themselves, too" value=${filters.users === "yes"} onChange=${(on) => change({ users: on ? "yes" : "" })} />
    </div>
    <${Failure} error=${pages.error} />
    <${Card}><${Table} label="Entities" rows=${rows} empty=${noRows(pages, { ...filters, users: "" }, "entity", "None yet: entities come with the memories that name them.")} columns=${[
      { title: "Name", cell: (one) => html`<a href=${href(["entities", one.id])}>${one.canonical_name}</a> ${one.merged_into && html`<${Badge} text="merged" />`}` },
      { title: "Type", cell: (one) => words(one.entity_type) },
      { title: "Also called", cell: (one) => one.aliases.join(", ") },
      { title: "Whose", cell: (one) => one.user_id ?? one.agent_id ?? one.scope },
      { title: "Mentions", number: true, cell: (one) => number(one.mention_count) },
    ]} />${pages.more && html`<${Button} onClick=${pages.loadMore}>More<//>`}<//>`;
}

function EntityPage({ id }) {
  const session = useSession();
  const found = useData(() => Promise.all([get(pathOf`/entities/${id}`), get(pathOf`/entities/${id}/neighbours`)]), [id]);
  if (isMissing(found)) return html`<${Missing} error=${found.error} list="entities" />`;
  return html`<${Loaded} of=${found}>${([entity, { neighbours }]) => html`
    <${PageTitle} aside=${html`<${Badge} text=${entity.entity_type} tone="info" />`}>${entity.canonical_name}<//>
    <div class="grid wide">
      <${Card} title="Surroundings"><${Graph} entity=${entity} neighbours=${neighbours} /><//>
      <div class="stack">
        <${Card} title="Identity"><${Pairs} pairs=${[
          ["names", [entity.canonical_name, ...entity.aliases].join(", ")],
          ...Object.entries(entity.attributes).map(([name, value]) => [words(name), typeof value === "object" ? html`<${Json} value=${value} />` : String(value)]),
          ...entity.former_attributes.map((one) => [`${words(one.name)} until`, html`<${Time} at=${one.retired_at} />: ${typeof one.value === "object" ? html`<${Json} value=${one.value} />` : String(one.value)}`]),
          ["mentions", number(entity.mention_count)], ["user", entity.user_id && html`<a href=${href(["users", entity.user_id])}>${entity.user_id}</a>`],
          ["agent", entity.agent_id], ["known since", html`<${Time} at=${entity.created_at} />`],
          ["merged into", entity.merged_into && html`<a href=${href(["entities", entity.merged_into])}>${entity.merged_into}</a>`], ["id", html`<code>${entity.id}</code>`],
        ]} /><//>
        ${session.may("write") && html`<${Merging} entity=${entity} reload=${found.reload} />`}
      </div>
    </div>
    <${MemoriesOf} title="Memories that name it" query=${{ entity: id, validity: "any" }} to=${{ entity: id }} />`}<//>`;
}

function Merging({ entity, reload }) {
  const [text, setText] = useState("");
  const settled = useSettled(text);
  const { user_id, agent_id, scope } = entity;
  const found = useData(() => (settled ? get("/entities", { prefix: settled, user_id, agent_id, scope, limit: 12 }) : Promise.resolve({ entities: [] })), [settled]);
  const others = (found.data?.entities ?? []).filter((one) => one.id !== entity.id && one.user_id === user_id && one.agent_id === agent_id);
  const merge = (other) => attempt(() => post("/entities/merge", { into: entity.id, from: [other.id], force: other.entity_type !== entity.entity_type }).then(reload), `${other.canonical_name} is one with ${entity.canonical_name} now.`);
  const unmerge = (id) => attempt(() => post("/entities/unmerge", { entity: id }).then(reload), "Taken apart again.");
  return html`<${Card} title="Merge">
    <${Field} label="Another name of the same" type="search" value=${text} onChange=${setText} placeholder="begin to type" />
    <ul>${others.map((one) => html`<li>${one.canonical_name} <span class="muted">${one.entity_type}</span>
      <${Confirm} label="Merge" kind="" title=${`Are ${one.canonical_name} and ${entity.canonical_name} one?`}
        text="Names and memories come together. Where both hold different values, somebody is asked. It can be undone." onConfirm=${() => merge(one)} /></li>`)}</ul>
    ${settled && !found.loading && !others.length && html`<${Empty}>Nobody else of that name in this scope.<//>`}
    ${entity.merged.length > 0 && html`<h3>Merged into it</h3><ul>${entity.merged.map((id) => html`<li><code>${id.slice(0, 12)}…</code> <${Button} onClick=${() => unmerge(id)}>Take apart<//></li>`)}</ul>`}
  <//>`;
}

/** The entity in the middle, those that memories name with it around; each line says by which memory. */
function Graph({ entity, neighbours }) {
  const byId = new Map();
  for (const one of neighbours) {
    const known = byId.get(one.entity_id);
    if (known) known.labels.add(words(one.label));
    else byId.set(one.entity_id, { ...one, labels: new Set([words(one.label)]) });
  }
  const drawn = [...byId.values()].slice(0, MOST_DRAWN);
  if (!drawn.length) return html`<${Empty}>No active memory names it together with another entity.<//>`;
  const placed = drawn.map((one, place) => {
    const angle = (2 * Math.PI * place) / drawn.length - Math.PI / 2;
    const far = drawn.length > 9 && place % 2 ? 0.68 : 1;
    return { ...one, x: 320 + 235 * far * Math.cos(angle), y: 205 + 160 * far * Math.sin(angle) };
  });
  return html`<svg class="graph" viewBox="0 0 640 420" role="group" aria-label=${`${drawn.length} entities around ${entity.canonical_name}`}>
    ${placed.map((one) => html`<line x1="320" y1="205" x2=${one.x} y2=${one.y} />`)}
    ${placed.map((one) => html`<text class="edge" x=${320 + (one.x - 320) * 0.55} y=${205 + (one.y - 205) * 0.55}>${[...one.labels].slice(0, 2).join(", ")}</text>`)}
    ${placed.map((one) => html`<a href=${href(["entities", one.entity_id])} aria-label=${`${one.name}: ${one.content}`}><title>${one.content}</title>
      <circle cx=${one.x} cy=${one.y} r="13" /><text x=${one.x} y=${one.y + 29}>${one.name}</text></a>`)}
    <g class="centre"><circle cx="320" cy="205" r="17" /><text x="320" y="240">${entity.canonical_name}</text></g>
  </svg>${byId.size > MOST_DRAWN && html`<p class="muted small">${byId.size - MOST_DRAWN} more are not drawn.</p>`}`;
}
