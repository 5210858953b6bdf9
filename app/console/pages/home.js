// Home: what waits, what the store is made of, what happens over time.

import { html } from "../vendor/preact.js";
import { get } from "../lib/api.js";
import { Bars, DayPlot, Histogram } from "../lib/charts.js";
import { noun, number, sum, words } from "../lib/format.js";
import { href, useData, useSession } from "../lib/hooks.js";
import { Badge, Card, Empty, Loaded, PageTitle, Sentence, Table, Time } from "../lib/ui.js";

const DAYS = 30;
const AGES = { under_a_day: "< day", a_day_to_a_week: "< week", a_week_to_a_month: "< month", over_a_month: "longer" };

export function HomePage() {
  const session = useSession();
  return html`<${PageTitle}>Home<//>${session.may("admin") ? html`<${AdminHome} />` : html`<${ReaderHome} />`}`;
}

function ReaderHome() {
  const found = useData(() => get("/memories/count", { validity: "any" }), []);
  return html`<${Loaded} of=${found}>${(counts) => html`
    <div class="numbers"><${Figure} value=${counts.total} label=${noun(counts.total, "memories")} to=${href(["memories"])} /></div>
    <div class="grid">
      <${Card} title="Memories by type"><${Bars} counts=${counts.by_type} link=${(type) => href(["memories"], { type })} /><//>
    </div>`}<//>`;
}

function AdminHome() {
  const stats = useData(() => get("/admin/stats"), []);
  const summary = useData(() => get("/admin/review/summary"), []);
  const series = useData(() => get("/admin/stats/series", { days: DAYS }), []);
  const costs = useData(() => get("/admin/costs"), []);
  const audit = useData(() => get("/admin/audit", { limit: 5 }), []);
  return html`
    <${Loaded} of=${stats}>${(data) => html`<${Figures} stats=${data} />`}<//>
    <${Loaded} of=${series}>${(data) => html`<${Series} days=${data.days} costs=${costs.data?.days ?? []} />`}<//>
    <div class="grid wide">
      <div class="stack"><${Card} title="Waiting for review" actions=${html`<a href=${href(["review"])}>Open the queue</a>`}>
        <${Loaded} of=${summary}>${(data) => html`<${Waiting} summary=${data} />`}<//>
      <//>
      <${Card} title="Skipped turns"><${Loaded} of=${stats}>${(data) => html`<${Skipped} stats=${data} />`}<//><//></div>
      <${Card} title="Newest events" actions=${html`<a href=${href(["audit"])}>Audit log</a>`}>
        <${Loaded} of=${audit}>${(data) => html`<${Events} events=${data.events} />`}<//>
      <//>
    </div>
    <${Loaded} of=${stats}>${(data) => html`<${Store} stats=${data} />`}<//>`;
}

const Figure = ({ value, label, to, note }) => html`<a class="figure" href=${to}><b>${typeof value === "number" ? number(value) : value}</b>
  <span>${label}</span>${note && html`<br /><span class="muted small">${note}</span>`}</a>`;

function Figures({ stats }) {
  const active = stats.memories?.by_status?.active ?? 0;
  const failed = stats.jobs.ended_last_day.failed ?? 0;
  const [turns, entities] = [sum(stats.turns.by_status), sum(stats.memories?.entities)];
  const jobs = stats.jobs.queued + stats.jobs.running;
  return html`<div class="numbers">
    <${Figure} value=${stats.reviews.total} label="waiting for review" to=${href(["review"])} />
    <${Figure} value=${active} label=${`active ${noun(active, "memories")}`} note=${stats.memories && `of ${number(stats.memories.total)}`} to=${href(["memories"], { status: "active" })} />
    <${Figure} value=${turns} label=${noun(turns, "turns")} note=${`${number(stats.turns.by_status.skipped ?? 0)} skipped, ${number(stats.turns.by_status.extraction_failed ?? 0)} failed`} to=${href(["turns"])} />
    <${Figure} value=${entities} label=${noun(entities, "entities")} to=${href(["entities"])} />
    <${Figure} value=${jobs} label=${`${noun(jobs, "jobs")} under way`} note=${`${failed} failed in a day`} to=${href(["jobs"])} />
  </div>`;
}

function Waiting({ summary }) {
  if (!summary.waiting) return html`<${Empty}>Nothing waits. Contradictions and doubtful statements come here.<//>`;
  return html`<${Table} label="Waiting by reason and age" rows=${summary.reasons} columns=${[
    { title: "Reason", cell: (one) => html`<a href=${href(["review"], { reason: one.reason })}>${words(one.reason)}</a>` },
    { title: "Waiting", number: true, cell: (one) => number(one.waiting) },
    ...Object.entries(AGES).filter(([age]) => summary.reasons.some((one) => one.ages[age])).map(([age, title]) => ({ title, number: true, cell: (one) => one.ages[age] || "" })),
    { title: "Oldest", cell: (one) => html`<${Time} at=${one.oldest} relative />` },
  ]} />`;
}

const Events = ({ events }) => html`<ul class="talk">${events.map((one) => html`<li key=${one.id}>
  <${Sentence} text=${one.sentence} /> <small><${Badge} text=${one.action} tone="plain" /> by ${one.actor}, <${Time} at=${one.at} relative /></small></li>`)}</ul>`;

function Series({ days, costs }) {
  const names = days.map((one) => one.day);
  const of = (field, keys) => Object.fromEntries(keys.map((key) => [key, days.map((one) => one[field][key] ?? 0)]));
  const present = (field, known) => known.filter((key) => days.some((one) => one[field][key])) ;
  const cost = Object.fromEntries(costs.map((one) => [one.day, one.cost]));
  const turns = present("turns", ["processed", "skipped", "extraction_failed"]);
  const writes = present("decisions", ["added", "merged", "contradicted", "rejected"]);
  return html`<div class="grid wide">
    <${Card}><${DayPlot} title="Turns a day" days=${names} series=${of("turns", turns.length ? turns : ["processed"])} /><//>
    <${Card}><${DayPlot} title="Writes a day" days=${names} series=${of("decisions", writes.length ? writes : ["added"])} /><//>
    ${costs.some((one) => one.cost > 0) && html`<${Card}><${DayPlot} title="Model cost a day" days=${names} series=${{ cost: names.map((one) => cost[one] ?? 0) }} /><//>`}
  </div>`;
}

function Store({ stats }) {
  const memories = stats.memories;
  return html`<div class="grid">
    ${memories && html`
      <${Card} title="Active memories by type"><${Bars} counts=${memories.by_type} link=${(type) => href(["memories"], { type })} /><//>
      <${Card} title="Memories by status"><${Bars} counts=${memories.by_status} link=${(status) => href(["memories"], { status })} />
        <h3>By scope</h3><${Bars} counts=${memories.by_scope} /><//>
      <${Card} title="Confidence"><${Histogram} label="Active memories by confidence" bands=${memories.confidence} />
        <h3>Freshness</h3><${Histogram} label="Active memories by freshness" bands=${memories.freshness} /><//>`}
  </div>`;
}

function Skipped({ stats }) {
  const reasons = stats.turns.skipped_by_reason;
  return Object.keys(reasons).length ? html`<${Bars} counts=${reasons} />` : html`<${Empty}>No turn was skipped.<//>`;
}
