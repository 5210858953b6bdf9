// Workers: scheduled jobs, when they ran last and what they did; run one now, or see what it would do.

import { html } from "../vendor/preact.js";
import { get, pathOf, post } from "../lib/api.js";
import { words } from "../lib/format.js";
import { href, notify, useData } from "../lib/hooks.js";
import { Badge, Button, Card, Json, Loaded, PageTitle, Table, Time } from "../lib/ui.js";

export function WorkersPage() {
  const found = useData(() => get("/admin/workers"), []);
  const run = async (name, dry) => {
    try {
      const { job_id: job } = await post(pathOf`/admin/workers/${name}/run`, null, { dry_run: dry });
      notify(`${words(name)} is queued${dry ? ", changing nothing" : ""}.`, { action: { label: "See the job", run: () => (location.hash = href(["jobs"])) } });
      if (job) setTimeout(found.reload, 3000);
    } catch (error) {
      notify(error.message, { bad: true });
    }
  };
  return html`<${PageTitle}>Workers<//><${Card}><${Loaded} of=${found}>${({ workers }) => html`<${Table} label="Workers" rows=${workers} columns=${[
    { title: "Worker", cell: (one) => html`<strong>${words(one.name)}</strong><div class="small muted">${one.summary}</div>` },
    { title: "When (cron)", cell: (one) => html`<code>${one.cron ?? "only by hand"}</code>` },
    { title: "Last run", cell: (one) => one.last_run ? html`<${Run} run=${one.last_run} />` : html`<span class="muted">never</span>` },
    { title: "", cell: (one) => html`<div class="actions"><${Button} onClick=${() => run(one.name, true)}>Dry run<//><${Button} onClick=${() => run(one.name, false)}>Run now<//></div>` },
  ]} />`}<//><//>`;
}

function Run({ run }) {
  const at = run.finished_at ?? run.started_at ?? run.at;
  return html`<${Badge} text=${run.status ?? "finished"} /> <${Time} at=${at} relative />
    <details><summary>what it did</summary><${Json} value=${run.counts ?? run.result ?? run} /></details>`;
}
