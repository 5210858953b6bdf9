// Webhooks: where messages about changes are sent, each with its deliveries and the receiver's answers.

import { html, useEffect, useState } from "../vendor/preact.js";
import { del, get, pathOf, post, request } from "../lib/api.js";
import { attempt, href, useData, usePages } from "../lib/hooks.js";
import { Badge, Button, Card, Confirm, Failure, Field, Json, Loaded, Missing, PageTitle, Pairs, Secret, Table, Time } from "../lib/ui.js";

const REFRESH_SECONDS = 4;
const EVENTS = {
  "memory.created": "a memory is believed from now on",
  "memory.superseded": "a newer value replaced it",
  "memory.expired": "it ended or faded",
  "memory.contested": "another statement contradicts it",
  "review.waiting": "an item waits for a reviewer",
  "job.done": "a job ended",
};

export const WebhooksPage = ({ parts }) => (parts.length ? html`<${WebhookPage} key=${parts[0]} id=${parts[0]} />` : html`<${WebhookList} />`);

const state = (one) => (one.active ? "active" : one.paused_because ? "paused" : "off");

const NewSecret = ({ of }) => html`<p class="suggestion" role="status"><strong>Copy it now:</strong> the secret of ${of.url} is shown only here. Your receiver verifies signatures with it.<br /><${Secret} text=${of.secret} /></p>`;

function WebhookList() {
  const found = useData(() => get("/admin/webhooks"), []);
  const [made, setMade] = useState(null);
  return html`<${PageTitle}>Webhooks<//><div class="stack">
    <${Card} title="New webhook"><${NewWebhook} onMade=${(webhook) => (setMade(webhook), found.reload())} />${made && html`<${NewSecret} of=${made} />`}<//>
    <${Card}><${Loaded} of=${found}>${({ webhooks }) => html`<${Table} label="Webhooks" rows=${webhooks} empty="None yet. A webhook gets a signed message when something happens." columns=${[
      { title: "URL", cell: (one) => html`<a href=${href(["webhooks", one.id])}>${one.url}</a>${one.description && html`<div class="small muted">${one.description}</div>`}` },
      { title: "Events", cell: (one) => one.events.join(", ") },
      { title: "State", cell: (one) => html`<${Badge} text=${state(one)} />${one.paused_because && html`<div class="small">${one.paused_because}</div>`}` },
      { title: "Made", cell: (one) => html`<${Time} at=${one.created_at} />` },
    ]} />`}<//><//></div>`;
}

function NewWebhook({ onMade }) {
  const [url, setUrl] = useState("");
  const [description, setDescription] = useState("");
  const [events, setEvents] = useState(["review.waiting"]);
  const [error, setError] = useState(null);
  const submit = async (event) => {
    event.preventDefault();
    setError(null);
    try {
      onMade(await request("POST", "/admin/webhooks", { body: { url, events, ...(description && { description }) } }));
      setUrl("");
      setDescription("");
    } catch (failed) {
      setError(failed);
    }
  };
  const toggle = (name) => setEvents(events.includes(name) ? events.filter((one) => one !== name) : [...events, name]);
  return html`<form class="stack" onSubmit=${submit}>
    <div class="filters"><div class="wide"><${Field} label="URL" type="url" value=${url} onChange=${setUrl} required placeholder="an https address" /></div>
      <${Field} label="Description" value=${description} onChange=${setDescription} placeholder="optional" /></div>
    <fieldset class="plain-set"><legend class="small muted">Send a message when</legend><div class="actions">${Object.entries(EVENTS).map(([name, told]) => html`<${Field} type="checkbox" label=${`${told} (${name})`} value=${events.includes(name)} onChange=${() => toggle(name)} />`)}</div></fieldset>
    <${Failure} error=${error} />
    <div class="actions"><button class="button primary" type="submit" disabled=${!url || !events.length}>Make webhook</button></div></form>`;
}

function WebhookPage({ id }) {
  const found = useData(() => get("/admin/webhooks").then(({ webhooks }) => webhooks.find((one) => one.id === id) ?? null), [id]);
  const deliveries = usePages(pathOf`/admin/webhooks/${id}/deliveries`, { limit: 50 }, "deliveries");
  const [made, setMade] = useState(null);
  const reload = () => (found.reload(), deliveries.reload());
  const waiting = deliveries.items.length <= 50 && deliveries.items.some((one) => one.status === "waiting");
  useEffect(() => {
    if (!waiting) return undefined;
    const timer = setInterval(() => document.hidden || deliveries.reload(), REFRESH_SECONDS * 1000);
    return () => clearInterval(timer);
  }, [waiting]);
  const path = pathOf`/admin/webhooks/${id}`;
  const test = () => attempt(() => post(pathOf`/admin/webhooks/${id}/test`).then(reload), "A test message is queued.");
  const change = (active) => attempt(() => request("PATCH", path, { body: { active } }).then(reload), active ? "Messages are sent again." : "No message is sent until it is resumed.");
  const rotate = () => attempt(async () => (setMade(await request("POST", pathOf`/admin/webhooks/${id}/rotate`, { body: {} })), reload()));
  const remove = () => attempt(() => del(path).then(() => (location.hash = href(["webhooks"]))), "Deleted.");
  const again = (one) => attempt(() => post(pathOf`/admin/deliveries/${one.id}/retry`).then(reload), "Queued again.");
  if (!found.loading && !found.error && !found.data) return html`<${Missing} error=${{ message: "There is no such webhook." }} list="webhooks" />`;
  return html`<${PageTitle} aside=${html`<div class="actions"><${Button} onClick=${reload}>Refresh<//>
      ${found.data && html`<${Button} onClick=${test}>Send a test<//>
      <${Button} onClick=${() => change(!found.data.active)}>${found.data.active ? "Pause" : "Resume"}<//>
      <${Confirm} label="Rotate secret" kind="" title="Rotate the secret?" text="Messages are signed with both secrets for an hour, then with the new one alone." onConfirm=${rotate} />
      <${Confirm} label="Delete" title="Delete this webhook?" text="Its deliveries go with it; what waits is not sent." onConfirm=${remove} />`}</div>`}>Webhook<//>
    <div class="stack">
      <${Card}><${Loaded} of=${found}>${(one) => html`<${Pairs} pairs=${[
        ["URL", html`<code>${one.url}</code>`], ["for", one.description], ["events", one.events.join(", ")],
        ["state", html`<${Badge} text=${state(one)} /> ${one.paused_because ?? ""}`], ["made", html`<${Time} at=${one.created_at} />`],
        ["old secret signs until", one.previous_until && html`<${Time} at=${one.previous_until} />`], ["id", html`<code>${one.id}</code>`],
      ]} />`}<//>${made && html`<${NewSecret} of=${made} />`}<//>
      <${Card} title="Deliveries of the last week"><${Failure} error=${deliveries.error} /><${Table} label="Deliveries" rows=${deliveries.items} empty=${deliveries.loading ? "Loading…" : "No message yet."} columns=${[
        { title: "Event", cell: (one) => html`<strong>${one.event}</strong><div class="small muted"><code>${one.id}</code></div>` },
        { title: "Status", cell: (one) => html`<${Badge} text=${one.status} />${one.error && html`<div class="small">${one.error}</div>`}` },
        { title: "Answered", number: true, cell: (one) => one.answered ?? "–" }, { title: "Tries", number: true, cell: (one) => one.attempts },
        { title: "Queued", cell: (one) => html`<${Time} at=${one.created_at} relative />` },
        { title: "Next try", cell: (one) => (one.status === "waiting" ? html`<${Time} at=${one.due_at} />` : "") },
        { title: "", cell: (one) => html`<details><summary>data</summary><${Json} value=${one.data} /></details>` },
        { title: "", cell: (one) => one.status !== "waiting" && html`<${Button} onClick=${() => again(one)}>Send again<//>` },
      ]} />${deliveries.more && html`<${Button} onClick=${deliveries.loadMore}>More<//>`}<//>
    </div>`;
}
