// Audit: everything that happened, filters, and a check that nothing was changed afterwards.

import { html, useState } from "../vendor/preact.js";
import { get } from "../lib/api.js";
import { instant, number, when } from "../lib/format.js";
import { attempt, useFilters, usePages, useSettled } from "../lib/hooks.js";
import { Badge, Button, Card, Failure, Field, Json, MemoryLink, PageTitle, Pairs, Sentence, Table, noRows } from "../lib/ui.js";

export function AuditPage() {
  const [filters, change] = useFilters(["audit"]);
  const given = useSettled(JSON.stringify(filters));
  const { action, actor, user, memory, since, until } = JSON.parse(given);
  const pages = usePages("/admin/audit", { action, actor, user_id: user, memory_id: memory, since: instant(since), until: instant(until), limit: 50 }, "events");
  const field = (name, label, rest = {}) => html`<${Field} label=${label} value=${filters[name]} onChange=${(value) => change({ [name]: value })} ...${rest} />`;
  return html`<${PageTitle}>Audit<//>
    <${Verify} />
    <div class="filters">${field("action", "Action", { placeholder: "memory.superseded" })}${field("actor", "By")}${field("user", "User")}
      ${field("memory", "Memory", { placeholder: "mem_…" })}${field("since", "Since", { type: "date" })}${field("until", "Until", { type: "date" })}</div>
    <${Failure} error=${pages.error} />
    <${Card}><${Table} label="Events" rows=${pages.items} empty=${noRows(pages, filters, "event", "Nothing has happened yet.")} columns=${[
      { title: "When", cell: (one) => html`<time datetime=${one.at} class="nowrap">${when(one.at)}</time>` },
      { title: "What", cell: (one) => html`<${Sentence} text=${one.sentence} />${one.redacted && html` <${Badge} text="emptied by erasure" />`}<div class="small muted"><code>${one.action}</code> ${one.memory_id && html`<${MemoryLink} id=${one.memory_id}>the memory<//>`}</div>` },
      { title: "By", cell: (one) => one.actor },
      { title: "", cell: (one) => html`<details><summary>detail</summary><${Json} value=${one.detail} /></details>` },
    ]} />${pages.more && html`<${Button} onClick=${pages.loadMore}>More<//>`}<//>`;
}

/** Check the seals of the log from the first on, part by part. */
function Verify() {
  const [result, setResult] = useState(null);
  const [busy, setBusy] = useState(false);
  const verify = () => attempt(async () => {
    setBusy(true);
    let after = 0;
    let events = 0;
    for (;;) {
      const part = await get("/admin/audit/verify", { after, limit: 1000 }).finally(() => setBusy(false));
      events += part.events;
      setResult({ ...part, events });
      if (!part.intact || part.next === null) break;
      after = part.next;
    }
  });
  return html`<${Card} title="Seals" actions=${html`<${Button} onClick=${verify} disabled=${busy}>Verify the log<//>`}>
    ${!result && html`<p class="muted">Every event is sealed into a chain of digests. Verifying recomputes the chain.</p>`}
    ${result && html`<div role="status"><${Pairs} pairs=${[
      ["result", html`<${Badge} text=${result.intact ? "intact" : "broken"} tone=${result.intact ? "good" : "bad"} />`], ["events checked", number(result.events)], ["seals", number(result.seals)],
      ["not sealed yet", number(result.unsealed)], ["emptied by erasure", result.redacted?.length || ""], ["head", result.last && html`<code>${result.last.seq} ${result.last.digest}</code>`],
      ["broken at", result.broken && html`<${Json} value=${result.broken} />`],
    ]} /></div>`}<//><p></p>`;
}
