// Connections: programs that users let use their memory by OAuth, and invitations to connect one.

import { html, useState } from "../vendor/preact.js";
import { del, get, pathOf, request } from "../lib/api.js";
import { attempt, useData, usePages } from "../lib/hooks.js";
import { Badge, Button, Card, Confirm, Failure, Field, Loaded, PageTitle, Secret, Table, Time } from "../lib/ui.js";

const SCOPES = { read: "recall", write: "remember and erase", review: "list what waits for a reviewer" };

export const ConnectionsPage = () => html`<${PageTitle}>Connections<//><div class="stack"><${Connections} /><${Invitations} /></div>`;

function Connections() {
  const found = usePages("/admin/connections", { limit: 50 }, "connections");
  const end = (one) => attempt(() => del(pathOf`/admin/connections/${one.id}`).then(found.reload), "The connection has ended.");
  return html`<${Card} title="Connected programs" actions=${html`<${Button} onClick=${found.reload}>Refresh<//>`}><${Failure} error=${found.error} />
    <${Table} label="Connections" rows=${found.items} empty=${found.loading ? "Loading…" : "None yet. A program such as an assistant connects to /mcp by OAuth."} columns=${[
      { title: "Program", cell: (one) => html`<strong>${one.client_name}</strong><div class="small muted">${one.redirect_host}</div>` },
      { title: "For", cell: (one) => [`user ${one.user_id}`, one.agent_id && `agent ${one.agent_id}`].filter(Boolean).join(", ") },
      { title: "May", cell: (one) => one.scopes.join(", ") }, { title: "Approved by", cell: (one) => one.approved_by },
      { title: "State", cell: (one) => html`<${Badge} text=${one.revoked_at ? "revoked" : "active"} />${one.revoked_because && html`<div class="small">${one.revoked_because}</div>`}` },
      { title: "Made", cell: (one) => html`<${Time} at=${one.created_at} />` }, { title: "Last used", cell: (one) => html`<${Time} at=${one.last_used_at} relative />` },
      { title: "", cell: (one) => !one.revoked_at && html`<${Confirm} label="End" title=${`End the connection of ${one.client_name}?`} text="The program is refused from now on, until its user connects it again." onConfirm=${() => end(one)} />` },
    ]} />${found.more && html`<${Button} onClick=${found.loadMore}>More<//>`}<//>`;
}

function Invitations() {
  const found = useData(() => get("/admin/invitations"), []);
  const [made, setMade] = useState(null);
  const withdraw = (one) => attempt(() => del(pathOf`/admin/invitations/${one.id}`).then(found.reload), "Withdrawn.");
  return html`<${Card} title="Invitations"><${NewInvitation} onMade=${(one) => (setMade(one), found.reload())} />
    ${made && html`<p class="suggestion" role="status"><strong>Copy it now:</strong> the link for ${made.user_id} is shown only here. It works once.<br /><${Secret} text=${made.link} /></p>`}
    <${Loaded} of=${found}>${({ invitations }) => html`<${Table} label="Invitations" rows=${invitations} empty="None is open. With an invitation a user connects a program without a key." columns=${[
      { title: "For", cell: (one) => `user ${one.user_id}` }, { title: "May", cell: (one) => one.scopes.join(", ") }, { title: "Made by", cell: (one) => one.created_by },
      { title: "Ends", cell: (one) => html`<${Time} at=${one.expires_at} />` },
      { title: "", cell: (one) => html`<${Confirm} label="Withdraw" title="Withdraw this invitation?" text="Its link works no more." onConfirm=${() => withdraw(one)} />` },
    ]} />`}<//><//>`;
}

function NewInvitation({ onMade }) {
  const [user, setUser] = useState("");
  const [scopes, setScopes] = useState(["read", "write"]);
  const [error, setError] = useState(null);
  const submit = async (event) => {
    event.preventDefault();
    setError(null);
    try {
      onMade(await request("POST", "/admin/invitations", { body: { user_id: user, scopes } }));
      setUser("");
    } catch (failed) {
      setError(failed);
    }
  };
  const toggle = (name) => setScopes(scopes.includes(name) ? scopes.filter((one) => one !== name) : [...scopes, name]);
  return html`<form class="filters" onSubmit=${submit}><${Field} label="Invite the user" value=${user} onChange=${setUser} required placeholder="ana" />
    <fieldset class="plain-set wide"><legend class="small muted">To let a program</legend><div class="actions">${Object.entries(SCOPES).map(([name, told]) => html`<${Field} type="checkbox" label=${`${told} (${name})`} value=${scopes.includes(name)} onChange=${() => toggle(name)} />`)}</div></fieldset>
    <button class="button primary" type="submit" disabled=${!user || !scopes.length}>Make link</button><${Failure} error=${error} /></form>`;
}
