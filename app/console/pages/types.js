// Types: what there is, an editor for a tenant's own, and backfills from preview to commit to undo.

import { html, useEffect, useState } from "../vendor/preact.js";
import { del, get, pathOf, request } from "../lib/api.js";
import { amount, number, sum, when, words } from "../lib/format.js";
import { attempt, href, useData, usePages, useSession, useSettled } from "../lib/hooks.js";
import { Badge, Button, Card, Confirm, Failure, Field, Json, Loaded, MemoryLink, Missing, PageTitle, Pairs, Table, Time, isMissing } from "../lib/ui.js";

const STARTING_POINT = {
  name: "ticket",
  definition: "A support ticket that a customer has opened, and how far it has come.",
  payload: {
    type: "object",
    properties: { customer: { type: "string" }, number: { type: "integer" }, status: { type: "string", enum: ["open", "closed"] } },
    required: ["customer", "number", "status"],
  },
  render: "{customer} has ticket {number}, {status}",
  slot: ["customer", "number"],
  value: ["status"],
  subject: "customer",
  half_life_days: 30,
  examples: [{ utterance: "Umbrella opened ticket 7.", payloads: [{ customer: "Umbrella", number: 7, status: "open" }] }],
};

/** The step that continues a backfill whose job failed or was cancelled, by status; while a job runs, it changes nothing. */
const CONTINUED_BY = { committing: "commit", undoing: "undo" };

export function TypesPage({ parts }) {
  if (parts[0] === "new") return html`<${Editor} />`;
  if (parts[0] === "backfill") return html`<${BackfillPage} key=${parts[1]} id=${parts[1]} />`;
  return parts.length ? html`<${TypePage} key=${parts[0]} name=${parts[0]} />` : html`<${TypeList} />`;
}

function TypeList() {
  const session = useSession();
  const found = useData(() => get("/admin/types"), []);
  return html`<${PageTitle} aside=${session.may("admin") && html`<a class="button primary" href=${href(["types", "new"])}>Define a type</a>`}>Types<//>
    <${Card}><${Loaded} of=${found}>${({ types }) => html`<${Table} label="Types" rows=${types} columns=${[
      { title: "Type", cell: (one) => html`<a href=${href(["types", one.name])}>${one.name}</a> ${one.version > 0 && html`<${Badge} text=${`own, version ${one.version}`} tone="info" />`}` },
      { title: "What it holds", cell: (one) => one.definition },
      { title: "Category", cell: (one) => one.category }, { title: "Scope", cell: (one) => one.default_scope },
      { title: "Prior", number: true, cell: (one) => one.prior }, { title: "Half-life", number: true, cell: (one) => (one.half_life_days ? amount(one.half_life_days, "days") : "never fades") },
    ]} />`}<//><//>
    ${session.may("admin") && html`<${Backfills} types=${found.data?.types ?? []} />`}`;
}

function TypePage({ name }) {
  const session = useSession();
  const found = useData(() => get(pathOf`/admin/types/${name}`), [name]);
  if (isMissing(found)) return html`<${Missing} error=${found.error} list="types" />`;
  const remove = (type) => attempt(() => del(pathOf`/admin/types/${type.name}`).then(() => (location.hash = href(["types"]))), "Removed.");
  return html`<${Loaded} of=${found}>${(type) => html`
    <${PageTitle} aside=${session.may("admin") && type.version > 0 && html`<${Confirm} label="Remove" title=${`Remove ${type.name}?`} text="Only a type without memories can be removed." onConfirm=${() => remove(type)} />`}>${type.name}<//>
    <div class="grid wide">
      <${Card}><p>${type.definition}</p><${Pairs} pairs=${[
        ["version", type.version || "built in"], ["category", type.category], ["default scope", type.default_scope], ["prior", type.prior],
        ["half-life", type.half_life_days ? amount(type.half_life_days, "days") : "never fades"], ["group", type.group], ["aliases", type.aliases.join(", ")],
        ["memories", html`<a href=${href(["memories"], { type: type.name })}>${type.memories === null ? "list them" : number(type.memories)}</a>`],
      ]} /><//>
      <${Card} title="Fields"><${Table} label="Fields" rows=${Object.entries(type.payload_schema.properties ?? {}).map(([field, schema]) => ({ field, schema }))} columns=${[
        { title: "Field", cell: (one) => html`<code>${one.field}</code>${type.payload_schema.required?.includes(one.field) ? " *" : ""}` },
        { title: "Type", cell: (one) => one.schema.type ?? (one.schema.enum ?? one.schema.anyOf?.map((any) => any.type ?? any.$ref?.split("/").pop()) ?? []).join(" or ") },
        { title: "Meaning", cell: (one) => one.schema.description },
      ]} /><//>
    </div>`}<//>`;
}

/** Checks a definition as it is typed: each fault at its place, as a JSON pointer. */
function Editor() {
  const [text, setText] = useState(JSON.stringify(STARTING_POINT, null, 2));
  const settled = useSettled(text, 400);
  const [check, setCheck] = useState(null);
  const [saved, setSaved] = useState(null);
  useEffect(() => {
    let current = true;
    const tell = (found) => current && setCheck(found);
    try {
      const body = JSON.parse(settled);
      request("POST", "/admin/types", { query: { dry_run: true }, body }).then((ok) => tell({ ok })).catch((error) => tell({ error }));
    } catch (error) {
      tell({ error: { message: `not JSON: ${error.message}`, errors: [] } });
    }
    return () => (current = false);
  }, [settled]);
  const save = () => attempt(async () => setSaved(await request("POST", "/admin/types", { body: JSON.parse(text) })), "The type is in use now.");
  return html`<${PageTitle}>Define a type<//><div class="grid wide">
    <${Card} title="Definition"><${Field} label="As JSON" type="textarea" class="code" spellcheck="false" value=${text} onChange=${setText} />
      <p></p><${Button} kind="primary" disabled=${!check?.ok} onClick=${save}>Store the type<//><//>
    <${Card} title="Check"><div role="status">${check?.error && html`<${Failure} error=${check.error} />`}
      ${check?.ok && html`<p><${Badge} text=${check.ok.new === false ? "unchanged" : "can be stored"} tone="good" /></p>${check.ok.incompatible?.length > 0 && html`<p>Not compatible with the version before:</p><${Json} value=${check.ok.incompatible} />`}`}</div>
      ${saved && html`<p>Stored as version ${saved.type.version}: <a href=${href(["types", saved.type.name])}>${saved.type.name}</a></p>`}<//>
  </div>`;
}

function Backfills({ types }) {
  const pages = usePages("/admin/backfills", { limit: 20 }, "backfills");
  const [type, setType] = useState("");
  const preview = () => attempt(async () => {
    const made = await request("POST", "/admin/backfills", { body: { type } });
    location.hash = href(["types", "backfill", made.id]);
  });
  return html`<p></p><${Card} title="Backfills" actions=${html`<${Field} label="Into type" hidden type="select" value=${type} onChange=${setType} options=${[["", "into which type?"], ...types.map((one) => one.name)]} />
      <${Button} disabled=${!type} onClick=${preview}>Preview<//>`}>
    <p class="muted">A backfill reclassifies memories that are there already. A preview changes nothing.</p>
    <${Failure} error=${pages.error} />
    <${Table} label="Backfills" rows=${pages.items} empty="None yet." columns=${[
      { title: "Into", cell: (one) => html`<a href=${href(["types", "backfill", one.id])}>${one.type}</a>` }, { title: "From", cell: (one) => one.from.join(", ") },
      { title: "Status", cell: (one) => html`<${Badge} text=${one.status} />` }, { title: "By", cell: (one) => one.actor },
      { title: "Flagged", number: true, cell: (one) => number(one.counts.flagged) }, { title: "Made", cell: (one) => html`<${Time} at=${one.created_at} relative />` },
    ]} /><//>`;
}

function BackfillPage({ id }) {
  const found = useData(() => get(pathOf`/admin/backfills/${id}`), [id]);
  const changes = usePages(pathOf`/admin/backfills/${id}/memories`, { limit: 50 }, "memories");
  const act = (action) => attempt(() => request("POST", pathOf`/admin/backfills/${id}/${action}`).then(() => setTimeout(() => (found.reload(), changes.reload()), 800)), `${words(action)} is under way.`);
  return html`<${Loaded} of=${found}>${(one) => html`<${PageTitle} aside=${html`<div class="actions"><${Button} onClick=${() => (found.reload(), changes.reload())}>Refresh<//>
      ${one.status === "previewed" && html`<${Confirm} label="Commit" kind="primary" title="Reclassify these memories?" text="What is flagged is reclassified by a job; it can be undone." onConfirm=${() => act("commit")} />`}
      ${["previewing", "previewed"].includes(one.status) && html`<${Button} onClick=${() => act("cancel")}>Cancel<//>`}
      ${one.status in CONTINUED_BY && html`<${Button} onClick=${() => act(CONTINUED_BY[one.status])}>Continue<//>`}
      ${["committing", "committed"].includes(one.status) && html`<${Confirm} label="Undo" title="Undo this backfill?" text="Memories become what they were." onConfirm=${() => act("undo")} />`}</div>`}>Backfill into ${one.type}<//>
    <div class="numbers">${["looked_at", "flagged", "changed", "superseded", "contradicting", "reviewed"].map((name) => html`<div class="figure"><b>${number(one.counts[name])}</b>${words(name)}</div>`)}</div>
    <div class="grid wide">
      <${Card}><${Pairs} pairs=${[["status", html`<${Badge} text=${one.status} />`], ["from", one.from.join(", ")], ["classifier", one.classifier], ["by", one.actor], ["previewed", one.previewed_at && when(one.previewed_at)], ["committed", one.committed_at && when(one.committed_at)], ["undone", one.undone_at && when(one.undone_at)], ["left alone", sum(one.counts.left) || ""]]} /><//>
      <${Card} title="Memories"><${Failure} error=${changes.error} /><${Table} label="Memories" rows=${changes.items} empty="None is flagged." columns=${[
        { title: "Memory", cell: (row) => html`<${MemoryLink} id=${row.memory_id ?? row.id}>${row.content ?? row.memory_id ?? row.id}<//>` },
        { title: "Effect", cell: (row) => html`<${Badge} text=${row.effect ?? row.state} />` }, { title: "Why", cell: (row) => row.reason },
      ]} />${changes.more && html`<${Button} onClick=${changes.loadMore}>More<//>`}<//>
    </div>`}<//>`;
}
