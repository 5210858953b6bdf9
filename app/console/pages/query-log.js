// Query log: a sample of the questions that were asked, what each returned, and how long its stages took.

import { html } from "../vendor/preact.js";
import { instant, number, when, words } from "../lib/format.js";
import { href, useFilters, usePages, useSettled } from "../lib/hooks.js";
import { Badge, Button, Card, Failure, Field, MemoryLink, PageTitle, Pairs, Table, noRows } from "../lib/ui.js";

const MODES = [["", "every mode"], "default", "historical", "audit"];
const RESULTS = [["", "any"], ["true", "nothing"], ["false", "something"]];
const DEGRADED = [["", "either"], ["true", "degraded"], ["false", "complete"]];

export function QueryLogPage() {
  const [filters, change] = useFilters(["query-log"]);
  const given = useSettled(JSON.stringify(filters));
  const { user, agent, actor, mode, memory, empty, degraded, slow, question, since, until } = JSON.parse(given);
  const pages = usePages("/admin/query-log", {
    user_id: user, agent_id: agent, actor, mode, memory_id: memory, empty, degraded, min_ms: slow, question_digest: question,
    since: instant(since), until: instant(until), limit: 50,
  }, "queries");
  const nothing = html`Nothing is logged. The setting <code>TM_QUERY_LOG_SAMPLE</code> keeps a share of the questions, <code>TM_QUERY_LOG_CONTENT</code> their words, too.`;
  const field = (name, label, rest = {}) => html`<${Field} label=${label} value=${filters[name]} onChange=${(value) => change({ [name]: value })} ...${rest} />`;
  return html`<${PageTitle} aside=${html`<${Button} onClick=${pages.reload}>Refresh<//>`}>Query log<//>
    <div class="filters">${field("user", "User")}${field("agent", "Agent")}${field("actor", "Key")}
      ${field("mode", "Mode", { type: "select", options: MODES })}${field("empty", "Returned", { type: "select", options: RESULTS })}
      ${field("degraded", "Answer", { type: "select", options: DEGRADED })}${field("slow", "At least ms", { type: "number", min: "0" })}
      ${field("memory", "Memory", { placeholder: "mem_…" })}${field("since", "Since", { type: "date" })}${field("until", "Until", { type: "date" })}</div>
    ${question && html`<p>Only one question. <button type="button" class="button" onClick=${() => change({ question: "" })}>Show all</button></p>`}
    <${Failure} error=${pages.error} />
    <${Card}><${Table} label="Questions" rows=${pages.items} empty=${noRows(pages, filters, "question", nothing)} columns=${[
      { title: "When", cell: (one) => html`<time datetime=${one.asked_at} class="nowrap">${when(one.asked_at)}</time>` },
      { title: "Question", cell: (one) => html`<${Asked} entry=${one} /><div class="small muted">${scope(one)}</div>` },
      { title: "Mode", cell: (one) => html`${words(one.mode)}${one.degraded.length > 0 && html` <${Badge} text="degraded" tone="warn" /><div class="small">${one.degraded.join("; ")}</div>`}` },
      { title: "Returned", number: true, cell: (one) => html`${one.returned} of ${one.top_k}` },
      { title: "ms", number: true, cell: (one) => number(Math.round(one.took_ms)) },
      { title: "", cell: (one) => html`<${Details} entry=${one} />` },
    ]} />${pages.more && html`<${Button} onClick=${pages.loadMore}>More<//>`}<//>`;
}

const scope = (one) => [one.user_id, one.agent_id && `agent ${one.agent_id}`, `by ${one.actor}`].filter(Boolean).join(" · ");

/** The question, or how long it was; the link lists it wherever it was asked again. */
function Asked({ entry }) {
  const text = entry.question ?? `${number(entry.question_length)} characters, not kept`;
  return html`<a href=${href(["query-log"], { question: entry.question_digest })}>${text}</a>`;
}

function Details({ entry }) {
  const stages = Object.entries(entry.stages).sort((a, b) => b[1] - a[1]);
  const again = entry.question && href(["playground"], { q: entry.question, user: entry.user_id });
  return html`<details><summary>details</summary>
    ${again && html`<p><a href=${again}>Ask it in the playground</a></p>`}
    ${entry.memory_ids.length > 0 && html`<ol>${entry.memory_ids.map((id) => html`<li><${MemoryLink} id=${id} /></li>`)}</ol>`}
    <${Pairs} pairs=${stages.map(([name, ms]) => [words(name), `${ms.toFixed(1)} ms`])} /></details>`;
}
