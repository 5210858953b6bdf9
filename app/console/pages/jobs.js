// Jobs: what waits, what runs, what failed; retry and cancel.

import { html, useEffect } from "../vendor/preact.js";
import { pathOf, post } from "../lib/api.js";
import { number, words } from "../lib/format.js";
import { attempt, useFilters, usePages, useSession, useSifted, withScopes } from "../lib/hooks.js";
import { Badge, Button, Card, Failure, Field, Json, PageTitle, Table, Time, noRows } from "../lib/ui.js";

const STATUSES = ["", "queued", "running", "succeeded", "failed", "cancelled"];
const REFRESH_SECONDS = 5;
/** Kinds that the service queues by itself, all day long. */
const ROUTINE = new Set(["hype", "sameness", "worker", "webhooks"]);

export function JobsPage() {
  const session = useSession();
  const [filters, change] = useFilters(["jobs"]);
  const pages = usePages("/jobs", withScopes(session, { status: filters.status, kind: filters.kind, limit: 50 }), "jobs");
  const unfinished = pages.items.some((one) => ["queued", "running"].includes(one.status));
  useEffect(() => {
    if (!unfinished || pages.items.length > 50) return undefined;
    const timer = setInterval(() => document.hidden || pages.reload(), REFRESH_SECONDS * 1000);
    return () => clearInterval(timer);
  }, [unfinished, pages.items.length]);
  const every = filters.routine === "yes" || filters.kind;
  const rows = useSifted(pages, (one) => every || one.status === "failed" || !ROUTINE.has(one.kind));
  const act = (job, action) => attempt(() => post(pathOf`/jobs/${job.id}/${action}`).then(pages.reload));
  return html`<${PageTitle} aside=${html`<${Button} onClick=${pages.reload}>Refresh<//>`}>Jobs<//>
    <div class="filters">
      <${Field} label="Status" type="select" value=${filters.status} onChange=${(status) => change({ status })} options=${STATUSES.map((one) => [one, one || "every status"])} />
      <${Field} label="Kind" value=${filters.kind} onChange=${(kind) => change({ kind })} placeholder="ingest, hype, erase" />
      <${Field} type="checkbox" label="Show the routine" value=${filters.routine === "yes"} onChange=${(on) => change({ routine: on ? "yes" : "" })} />
    </div>
    <${Failure} error=${pages.error} />
    <${Card}><${Table} label="Jobs" rows=${rows} empty=${noRows(pages, { ...filters, routine: "" }, "job", pages.items.length ? "None but the routine." : "None yet: turns in the background, erasures and backfills are jobs.")} columns=${[
      { title: "Job", cell: (one) => html`<strong>${words(one.kind)}</strong><div class="small muted"><code>${one.id}</code></div>` },
      { title: "Status", cell: (one) => html`<${Badge} text=${one.status} />${one.cancel_requested && " stopping"}${one.error && html`<div class="small">${one.error}</div>`}` },
      { title: "Progress", cell: (one) => html`<${Progress} of=${one.progress} />` },
      { title: "Tries", number: true, cell: (one) => one.attempts },
      { title: "Made", cell: (one) => html`<${Time} at=${one.created_at} relative />` },
      { title: "Result", cell: (one) => one.result && html`<details><summary>show</summary><${Json} value=${one.result} /></details>` },
      { title: "", cell: (one) => session.may("write") && html`<div class="actions">
        ${["failed", "cancelled"].includes(one.status) && html`<${Button} onClick=${() => act(one, "retry")}>Retry<//>`}
        ${["queued", "running"].includes(one.status) && html`<${Button} onClick=${() => act(one, "cancel")}>Cancel<//>`}</div>` },
    ]} />${pages.more && html`<${Button} onClick=${pages.loadMore}>More<//>`}<//>`;
}

function Progress({ of }) {
  if (of.total === null) return number(of.done);
  return html`<span class="key"><progress max=${of.total || 1} value=${of.done} aria-label="progress"></progress> ${number(of.done)} of ${number(of.total)}</span>`;
}
