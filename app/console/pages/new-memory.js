// A new memory: its type, its fields, what writing it would come to, and the write.

import { html, useState } from "../vendor/preact.js";
import { get, pathOf, request } from "../lib/api.js";
import { fraction, words } from "../lib/format.js";
import { href, notify, useData } from "../lib/hooks.js";
import { Badge, Card, Failure, Field, Loaded, MemoryLink, PageTitle, Pairs } from "../lib/ui.js";

const FIRST = "fact";

export function NewMemory() {
  const [name, setName] = useState(FIRST);
  const types = useData(() => get("/admin/types"), []);
  const type = useData(() => get(pathOf`/admin/types/${name}`), [name]);
  const names = (types.data?.types ?? []).map((one) => one.name).sort();
  return html`<${PageTitle}>Add a memory<//>
    <div class="stack"><div class="filters"><${Field} label="Type" type="select" value=${name} onChange=${setName} options=${names} /></div>
    <${Loaded} of=${type}>${(found) => html`<${Fields} key=${found.name} type=${found} />`}<//></div>`;
}

/** The kind of value that a field takes: that of the first alternative which is no null. */
const kindOf = (schema) => (schema.anyOf ?? [schema]).find((one) => one.type !== "null") ?? schema;

/** Return the value that was written in a field; a number, a flag or a list is read as JSON, as is what is none. */
function valueOf(schema, text) {
  const { type, enum: choices, $ref } = kindOf(schema);
  if (type === "string" || choices || $ref) return text;
  try {
    return JSON.parse(text);
  } catch {
    return type === "array" ? text.split(",").map((one) => one.trim()) : text;
  }
}

function Fields({ type }) {
  const { properties = {}, required = [] } = type.payload_schema;
  const [form, setForm] = useState({});
  const [about, setAbout] = useState({ user_id: "" });
  const [found, setFound] = useState(null);
  const [error, setError] = useState(null);
  const set = (name) => (value) => (setForm((old) => ({ ...old, [name]: value })), setFound(null));
  const given = () => Object.fromEntries(Object.entries(form).filter(([, text]) => text !== "").map(([name, text]) => [name, valueOf(properties[name], text)]));
  const send = async (dry) => {
    setError(null);
    const fields = type.version > 0 ? { payload: given() } : given();
    const body = { ...fields, ...(about.user_id && { user_id: about.user_id }) };
    try {
      const outcome = await request("POST", pathOf`/memories/typed/${type.name}`, { query: { dry_run: dry || undefined }, body });
      if (dry || !outcome.memory) return setFound(outcome);
      notify(`${words(outcome.decision)}.`);
      return (location.hash = href(["memories", outcome.memory.id]));
    } catch (failed) {
      return setError(failed);
    }
  };
  const names = [...required, ...Object.keys(properties).filter((one) => !required.includes(one))];
  return html`<form class="card stack" onSubmit=${(event) => (event.preventDefault(), send(true))}>
      <p class="muted">${type.definition}</p>
      <div class="filters roomy">${names.map((name) => html`<${Field} key=${name} label=${words(name)} value=${form[name]} onChange=${set(name)}
        required=${required.includes(name)} ...${choicesOf(properties[name])} hint=${properties[name].description} />`)}
        <${Field} label="Of the user" value=${about.user_id} onChange=${(user_id) => (setAbout({ user_id }), setFound(null))} hint="Empty: for everyone." /></div>
      <${Failure} error=${error} />
      <div class="actions"><button class="button primary" type="submit">Check without storing</button>
        ${found && html`<button class="button" type="button" onClick=${() => send(false)}>Store it</button>`}</div>
    </form>
    ${found && html`<${Card} title="What it comes to"><${Pairs} pairs=${[
      ["decision", html`<${Badge} text=${found.decision} /> ${found.reason}`], ["says", found.memory?.content], ["confidence", fraction(found.memory?.confidence)],
      ["changes", found.affected.length > 0 && html`<ul>${found.affected.map((one) => html`<li><${MemoryLink} id=${one.memory_id} /> ${words(one.change)}</li>`)}</ul>`],
    ]} /><//>`}`;
}

/** The choices of a field that takes one of a few values. */
function choicesOf(schema) {
  const { enum: choices, type } = kindOf(schema);
  const offered = choices ?? (type === "boolean" ? ["true", "false"] : null);
  return offered && { type: "select", options: [["", "not given"], ...offered.map((one) => [String(one), String(one)])] };
}
