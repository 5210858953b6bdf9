// Settings: keys, limits, the policy of extraction, the models and what they have cost.

import { html, useEffect, useState } from "../vendor/preact.js";
import { del, get, pathOf, request } from "../lib/api.js";
import { DayPlot } from "../lib/charts.js";
import { DAY_MS, number, when } from "../lib/format.js";
import { attempt, notify, useData } from "../lib/hooks.js";
import { Outcome, Wanted } from "./turns.js";
import { Badge, Button, Card, Confirm, Failure, Field, Loaded, PageTitle, Pairs, Secret, Table, Time } from "../lib/ui.js";

const ROLES = ["read", "write", "review", "admin"];
const ROLE_HINTS = { read: "ask and list", write: "store, change, erase memories", review: "decide what waits for a reviewer", admin: "review, keys, users, policy" };

export const SettingsPage = () => html`<${PageTitle}>Settings<//><div class="stack"><${Keys} /><${Limits} /><${Policies} /><${Models} /><${Costs} /></div>`;

const REEMBEDDING_MS = 3000;
const LIMITS = [["requests_per_minute", "Requests a minute"], ["memories_per_day", "Memories a day", "memories"], ["turns_per_day", "Turns a day", "turns"], ["tokens_per_day", "Tokens a day", "tokens"]];

function Keys() {
  const found = useData(() => get("/admin/keys"), []);
  const [made, setMade] = useState(null);
  const rotate = (key) => attempt(async () => (setMade(await request("POST", pathOf`/admin/keys/${key.id}/rotate`, { body: {} })), found.reload()));
  const revoke = (key) => attempt(() => del(pathOf`/admin/keys/${key.id}`).then(found.reload), "Revoked.");
  const state = (key) => (key.revoked_at ? "revoked" : key.expires_at && Date.parse(key.expires_at) < Date.now() ? "expired" : "active");
  return html`<${Card} title="API keys"><${NewKey} onMade=${(key) => (setMade(key), found.reload())} />
    ${made && html`<p class="suggestion" role="status"><strong>Copy it now:</strong> the key of ${made.name} is shown only here.<br /><${Secret} text=${made.key} /></p>`}
    <${Loaded} of=${found}>${({ keys }) => html`<${Table} label="Keys" rows=${keys} columns=${[
      { title: "Name", cell: (one) => html`${one.name}<div class="small muted"><code>${one.prefix}…</code></div>` },
      { title: "May", cell: (one) => one.roles.join(", ") }, { title: "For", cell: (one) => [one.user_id && `user ${one.user_id}`, one.agent_id && `agent ${one.agent_id}`].filter(Boolean).join(", ") || "everyone" }, { title: "State", cell: (one) => html`<${Badge} text=${state(one)} />` },
      { title: "Made", cell: (one) => html`<${Time} at=${one.created_at} />` }, { title: "Ends", cell: (one) => (one.expires_at ? when(one.expires_at) : "never") },
      { title: "Last used", cell: (one) => html`<${Time} at=${one.last_used_at} relative />` },
      { title: "", cell: (one) => state(one) === "active" && html`<div class="actions">
        <${Confirm} label="Rotate" kind="" title=${`Rotate ${one.name}?`} text="A new key takes its place; the old one works for a short while yet." onConfirm=${() => rotate(one)} />
        <${Confirm} label="Revoke" title=${`Revoke ${one.name}?`} text="Whoever uses it is refused from now on." onConfirm=${() => revoke(one)} /></div>` },
    ]} />`}<//><//>`;
}

function NewKey({ onMade }) {
  const [name, setName] = useState("");
  const [roles, setRoles] = useState(["read", "write"]);
  const [ends, setEnds] = useState("");
  const [user, setUser] = useState("");
  const [error, setError] = useState(null);
  const submit = async (event) => {
    event.preventDefault();
    setError(null);
    try {
      onMade(await request("POST", "/admin/keys", { body: { name, roles, ...(user && { user_id: user }), ...(ends && { expires_at: `${ends}T00:00:00Z` }) } }));
      setName("");
    } catch (failed) {
      setError(failed);
    }
  };
  const toggle = (role) => setRoles(roles.includes(role) ? roles.filter((one) => one !== role) : [...roles, role]);
  return html`<form class="filters" onSubmit=${submit}><${Field} label="Name of a new key" value=${name} onChange=${setName} required placeholder="support-bot" />
    <fieldset class="plain-set wide"><legend class="small muted">May</legend><div class="actions">${ROLES.map((role) => html`<${Field} type="checkbox" label=${`${role} (${ROLE_HINTS[role]})`} value=${roles.includes(role)} onChange=${() => toggle(role)} />`)}</div></fieldset>
    <${Field} label="Only for the user" value=${user} onChange=${setUser} placeholder="optional" />
    <${Field} label="Ends" type="date" value=${ends} onChange=${setEnds} />
    <button class="button primary" type="submit" disabled=${!name || !roles.length}>Make key</button><${Failure} error=${error} /></form>`;
}

/** The limits of the tenant, which its operator sets, or of a key, which are set here; each with what was used today. */
function Limits() {
  const keys = useData(() => get("/admin/keys"), []);
  const [key, setKey] = useState("");
  const found = useData(() => get(key ? pathOf`/admin/keys/${key}/limits` : "/admin/limits"), [key]);
  const [form, setForm] = useState({});
  useEffect(() => setForm(found.data?.own ?? {}), [found.data]);
  const save = () => attempt(() => request("PUT", pathOf`/admin/keys/${key}/limits`, { body: form }).then(found.reload), "Saved.");
  const names = (keys.data?.keys ?? []).filter((one) => !one.revoked_at).map((one) => [one.id, `key ${one.name}`]);
  return html`<${Card} title="Limits" actions=${html`<${Field} label="Limits of" hidden type="select" value=${key} onChange=${setKey} options=${[["", "the whole tenant"], ...names]} />${key && found.data && !found.loading && html`<${Button} kind="primary" onClick=${save}>Save<//>`}`}>
    <${Loaded} of=${found}>${({ effective, used_today: used }) => html`<${Table} label="Limits" rows=${LIMITS} columns=${[
      { title: "Limit", cell: ([, title]) => title },
      { title: "Own", cell: ([name, title]) => (key ? html`<${Field} label=${title} hidden type="number" min="1" value=${form[name]} placeholder="none" onChange=${(value) => setForm((old) => ({ ...old, [name]: value === "" ? null : Number(value) }))} />` : form[name] ? number(form[name]) : "–") },
      { title: "In force", number: true, cell: ([name]) => (effective[name] === null ? "none" : number(effective[name])) },
      { title: "Used today", number: true, cell: ([name, , counted]) => (!counted ? "" : effective[name] === null && !used[counted] ? "not counted" : number(used[counted])) },
    ]} />`}<//>
    ${!key && html`<p class="muted small">The operator of the service sets the tenant's limits. Choose a key to limit it.</p>`}<//>`;
}

function Models() {
  const found = useData(() => get("/admin/stats"), []);
  return html`<${Card} title="Models"><${Loaded} of=${found}>${({ models }) => html`<${Pairs} pairs=${[
    ["extraction and answers", models.language ?? "built-in rules; no answers in words"], ["embedding", models.embedding],
  ]} /><p class="muted small">Set by TM_LLM_* and TM_EMBEDDING_* at the service.</p><${Reembedding} />`}<//><//>`;
}

const PHASES = { building: "its vectors are being built; questions are answered by the active one", leaving: "was replaced; restart what still uses it, then drop it", dropping: "its vectors are being dropped" };

/** How far a change of the embedding model has come; looked at again while there is one. */
function Reembedding() {
  const found = useData(() => get("/admin/embedding-models"), []);
  const others = (found.data?.models ?? []).filter((one) => one.phase !== "active");
  useEffect(() => {
    if (!others.length) return undefined;
    const timer = setInterval(() => document.hidden || found.reload(), REEMBEDDING_MS);
    return () => clearInterval(timer);
  }, [others.length, found.reload]);
  return others.map((one) => html`<div role="status" class="stack"><div><strong>${one.name}</strong> (${one.dimensions} dimensions): ${PHASES[one.phase]}.</div>
    ${one.rows !== null && html`<progress aria-label=${`Vectors of ${one.name}`} max=${Math.max(1, one.rows)} value=${one.rows - one.lacking}></progress>
      <span class="muted small">${number(one.rows - one.lacking)} of ${number(one.rows)} vectors of this tenant</span>`}</div>`);
}

/** The tenant's policy, of which the thresholds and the instructions are changed and saved apart. */
function Policies() {
  const found = useData(() => get("/admin/policy"), []);
  const save = (changes) => request("PUT", "/admin/policy", { body: { ...found.data, ...changes } }).then(found.reload);
  if (!found.data) return html`<${Card} title="What is taken from turns"><${Loaded} of=${found}>${() => ""}<//><//>`;
  return html`<${Instructions} saved=${found.data.extraction} save=${save} /><${Policy} saved=${found.data} save=${save} />`;
}

const lines = (text) => text.split("\n").map((one) => one.trim()).filter(Boolean);

/** What to remember and what never, with a dry run of it beside. */
function Instructions({ saved, save }) {
  const asTexts = (of) => ({ instructions: of.instructions ?? "", include: of.include.join("\n"), exclude: of.exclude.join("\n") });
  const [form, setForm] = useState(asTexts(saved));
  const [said, setSaid] = useState("");
  const [tried, setTried] = useState(null);
  const [error, setError] = useState(null);
  const set = (name) => (value) => setForm((old) => ({ ...old, [name]: value }));
  const given = { instructions: form.instructions.trim() || null, include: lines(form.include), exclude: lines(form.exclude) };
  const changed = JSON.stringify(given) !== JSON.stringify(saved);
  const keep = () => (setError(null), save({ extraction: given }).then(() => notify("Saved."), setError));
  const run = (event) => {
    event.preventDefault();
    setError(null);
    request("POST", "/turns", { query: { dry_run: true }, body: { content: said, ...(changed && { extraction: given }) } }).then(setTried, setError);
  };
  return html`<${Card} title="What to remember, and what never" actions=${html`<${Button} kind="primary" disabled=${!changed} onClick=${keep}>Save instructions<//>`}>
    <div class="grid wide">
      <div class="stack">
        <${Field} label="Instructions in plain words" type="textarea" value=${form.instructions} onChange=${set("instructions")} maxlength="2000" placeholder="Remember what customers say of their machines. Leave out our own staff." hint="For the language model; the built-in rules read no words. Grounding and guards stay as they are." />
        <${Field} label="Remember above all" type="textarea" value=${form.include} onChange=${set("include")} placeholder="serial numbers of machines" hint="An entry a line." />
        <${Field} label="Never remember" type="textarea" value=${form.exclude} onChange=${set("exclude")} placeholder="medication" hint="An entry a line. The name of a type, a predicate, a preference key or a topic always holds." />
      </div>
      <form class="stack" onSubmit=${run}>
        <${Field} label="Try it on a turn" type="textarea" value=${said} onChange=${(value) => setSaid(value)} required placeholder="I work at Renault and take ramipril." hint=${changed ? "Nothing is stored. What is saved stands beside your changes until you save." : "Nothing is stored."} />
        <${Failure} error=${error} />
        <div class="actions"><button class="button" type="submit">Run without storing</button></div>
      </form>
    </div>
    ${tried && html`<div class="stack">${tried.turns.map((turn) => html`<${Outcome} turn=${turn} dry />`)}${tried.extraction && html`<${Wanted} of=${tried.extraction} />`}</div>`}<//>`;
}

function Policy({ saved, save }) {
  const [form, setForm] = useState(saved);
  useEffect(() => setForm(saved), [saved]);
  const prefilter = form.prefilter;
  const set = (name, value) => setForm((old) => ({ ...old, prefilter: { ...old.prefilter, [name]: value } }));
  const role = (name) => html`<${Field} type="checkbox" label=${name} value=${prefilter.excluded_roles.includes(name)}
    onChange=${(on) => set("excluded_roles", on ? [...prefilter.excluded_roles, name] : prefilter.excluded_roles.filter((one) => one !== name))} />`;
  return html`<${Card} title="What is taken from turns" actions=${html`<${Button} kind="primary" onClick=${() => attempt(() => save({ prefilter, keep_episodes: form.keep_episodes }), "Saved.")}>Save<//>`}>
    <div class="filters">
      <${Field} label="Fewest words" type="number" min="0" value=${prefilter.min_words ?? ""} onChange=${(value) => set("min_words", value === "" ? null : Number(value))} />
      <${Field} label="Most words" type="number" min="1" value=${prefilter.max_words} onChange=${(value) => set("max_words", Number(value))} />
      <${Field} label="Repeats within (seconds)" type="number" min="0" value=${prefilter.repeat_seconds} onChange=${(value) => set("repeat_seconds", Number(value))} />
      <${Field} label="Repeats alike by" type="number" min="0" max="1" step="0.01" value=${prefilter.repeat_similarity} onChange=${(value) => set("repeat_similarity", Number(value))} />
      <${Field} label="Keep turns as episodes" type="select" value=${form.keep_episodes === null ? "" : String(form.keep_episodes)} options=${[["", "default"], ["true", "yes"], ["false", "no"]]}
        onChange=${(value) => setForm((old) => ({ ...old, keep_episodes: value === "" ? null : value === "true" }))} />
    </div>
    <div class="actions"><${Field} type="checkbox" label="Skip chit-chat" value=${prefilter.chit_chat} onChange=${(value) => set("chit_chat", value)} />
      <span class="muted">Never from:</span> ${["system", "assistant", "tool", "user"].map(role)}</div><//>`;
}

/** Return the last 30 days as dates, oldest first. */
const lastDays = () => Array.from({ length: 30 }, (_, back) => new Date(Date.now() - (29 - back) * DAY_MS).toISOString().slice(0, 10));

function Costs() {
  const found = useData(() => get("/admin/costs"), []);
  const tokens = (days, name) => lastDays().map((day) => days.find((one) => one.day === day)?.[name] ?? 0);
  return html`<${Card} title="Use and cost of models"><${Loaded} of=${found}>${({ days }) => html`
    ${days.some((one) => one.input_tokens) && html`<${DayPlot} title="Tokens a day" days=${lastDays()} series=${{ input: tokens(days, "input_tokens"), output: tokens(days, "output_tokens") }} />`}
    <${Table} label="Days" rows=${[...days].reverse().slice(0, 31)} empty="No turn yet." columns=${[
      { title: "Day", cell: (one) => one.day }, ...["turns", "skipped", "failed", "requests", "input_tokens", "output_tokens"].map((name) => ({ title: name.replace("_", " "), number: true, cell: (one) => number(one[name]) })),
      { title: "Cost", number: true, cell: (one) => Number(one.cost).toFixed(4) },
    ]} />`}<//><//>`;
}
