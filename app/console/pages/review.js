// Review: the queue, one item with both sides, and a decision by one key.

import { html, useCallback, useEffect, useRef, useState } from "../vendor/preact.js";
import { pathOf, post, request } from "../lib/api.js";
import { ago, words } from "../lib/format.js";
import { href, notify, useFilters, usePages } from "../lib/hooks.js";
import { Badge, Button, Card, Dialog, Empty, Failure, Field, LongList, PageTitle, noRows } from "../lib/ui.js";
import { ReviewDetail } from "./review-detail.js";

const REASONS = ["contradiction", "constraint", "doubtful", "reported_wrong", "volatile", "entity_merge", "asked"];
const UNDO_SECONDS = 5;
const KEYS = [["j", "next item"], ["k", "previous item"], ["a", "accept"], ["r", "reject"], ["b", "keep both"], ["s", "supersede with the other side"],
  ["m", "merge with the other side"], ["e", "end since a day"], ["x", "select for a bulk decision"], ["u", "undo"], ["?", "this list"]];

/** Decisions wait a moment before they are sent; a new one sends the one before. What was sent is undone by the service. */
function useDecisions(onFailure) {
  const waiting = useRef(null);
  const decided = useRef(null);
  const flush = useCallback(async (keepalive = false) => {
    const one = waiting.current;
    if (!one) return;
    waiting.current = null;
    clearTimeout(one.timer);
    try {
      await request("POST", pathOf`/admin/review/${one.item.id}`, { body: one.body, keepalive });
      decided.current = one.item;
      dispatchEvent(new Event("reviewed"));
    } catch (error) {
      notify(error.message, { bad: true, seconds: 10 });
      onFailure();
    }
  }, []);
  const undo = useCallback(async () => {
    const one = waiting.current;
    if (!one && decided.current) return revert(decided.current);
    if (!one) return notify("Nothing to undo here: open a decided item to undo its decision.");
    waiting.current = null;
    clearTimeout(one.timer);
    one.restore();
    notify("Undone: nothing was changed.", { about: one.item.id });
  }, []);
  const revert = useCallback(async (item) => {
    try {
      await post(pathOf`/admin/review/${item.id}/undo`, {});
      decided.current = null;
      notify(`Undone: it waits again. ${item.memory.content.slice(0, 60)}`, { about: item.id });
      dispatchEvent(new Event("reviewed"));
    } catch (error) {
      notify(error.message, { bad: true, seconds: 10 });
    }
    onFailure();
  }, []);
  const decide = useCallback((item, body, restore) => {
    flush();
    waiting.current = { item, body, restore, timer: setTimeout(flush, UNDO_SECONDS * 1000) };
    notify(`${words(body.action)}: ${item.memory.content.slice(0, 60)}`, { action: { label: "Undo", run: undo }, seconds: UNDO_SECONDS, about: item.id });
  }, []);
  useEffect(() => {
    const leaving = () => flush(true);
    addEventListener("pagehide", leaving);
    return () => (removeEventListener("pagehide", leaving), flush());
  }, []);
  return { decide, undo, flush };
}

export function ReviewPage({ parts }) {
  const [filters, change] = useFilters(["review"]);
  const query = { reason: filters.reason, type: filters.type, user_id: filters.user, sort: filters.sort ?? "oldest", status: filters.status };
  const pages = usePages("/admin/review", { ...query, limit: 100 }, "items");
  const [hidden, setHidden] = useState(new Set());
  const [selected, setSelected] = useState(new Set());
  const [current, setCurrent] = useState(parts[0] ?? null);
  const [help, setHelp] = useState(false);
  const [asking, setAsking] = useState(null);
  const items = pages.items.filter((one) => !hidden.has(one.id));
  const place = Math.max(0, items.findIndex((one) => one.id === current));
  const item = items[place] ?? null;
  const opened = current && !items.some((one) => one.id === current) ? current : item?.id;
  const { decide, undo, flush } = useDecisions(() => (setHidden(new Set()), pages.reload()));

  const detail = useRef(null);
  // Where the detail stands below the queue, it would be out of sight.
  const open = (id) => {
    setCurrent(id);
    if (detail.current.offsetLeft === detail.current.previousElementSibling.offsetLeft) detail.current.scrollIntoView();
  };

  const go = (step) => items.length && setCurrent(items[Math.min(items.length - 1, Math.max(0, place + step))].id);
  const settle = (one, action, more = {}) => {
    const following = items[place + 1] ?? items[place - 1];
    const body = { action, version: one.version, ...more };
    setHidden((old) => new Set([...old, one.id]));
    setCurrent(following?.id ?? null);
    decide(one, body, () => {
      setHidden((old) => new Set([...old].filter((id) => id !== one.id)));
      setCurrent(one.id);
    });
  };
  const act = (action) => {
    if (!item) return;
    const other = item.suggestion.with ?? item.sides[0]?.memory.id;
    if (action === "end") setAsking(item);
    else if (["supersede_with", "merge"].includes(action) && !other) notify("There is no other side; near duplicates have buttons of their own.", { bad: true });
    else if (action === "keep_both" && !other) notify("There is no other side to keep.", { bad: true });
    else settle(item, action, ["supersede_with", "merge"].includes(action) ? { with: other } : {});
  };
  useKeys({ j: () => go(1), k: () => go(-1), a: () => act("accept"), r: () => act("reject"), b: () => act("keep_both"), s: () => act("supersede_with"),
    m: () => act("merge"), e: () => act("end"), u: undo, x: () => item && toggle(item.id), "?": () => setHelp(true) });
  const toggle = (id) => setSelected((old) => (old.has(id) ? new Set([...old].filter((one) => one !== id)) : new Set([...old, id])));

  return html`<${PageTitle} aside=${html`<${Button} onClick=${() => setHelp(true)}>Keys <kbd>?</kbd><//>`}>Review<//>
    <div class="filters">
      <${Field} label="Reason" type="select" value=${filters.reason} onChange=${(reason) => change({ reason })} options=${[["", "every reason"], ...REASONS]} />
      <${Field} label="User" value=${filters.user} onChange=${(user) => change({ user })} />
      <${Field} label="Believed" type="select" value=${filters.status} onChange=${(status) => change({ status })} options=${[["", "either way"], ["pending", "not yet"], ["active", "already"]]} />
      <${Field} label="Order" type="select" value=${filters.sort ?? "oldest"} onChange=${(sort) => change({ sort })} options=${[["oldest", "oldest first"], ["newest", "newest first"]]} />
    </div>
    <${Failure} error=${pages.error} />
    ${!pages.loading && !items.length && !opened && html`<${Card}><${Empty}>${noRows(pages, filters, "item", "Nothing waits. Contradictions, doubtful statements and what was reported wrong come here.")}<//><//>`}
    ${(items.length > 0 || opened) && html`<div class="review">
      <div><${Bulk} items=${items} selected=${selected} clear=${() => setSelected(new Set())} flush=${flush} reload=${() => (setCurrent(null), pages.reload())} />
        <${LongList} label="Queue" items=${items} rowHeight=${66} more=${pages.more} onEnd=${pages.loadMore} height="72vh"
          row=${(one) => html`<${QueueItem} item=${one} current=${one.id === opened} selected=${selected.has(one.id)} toggle=${toggle} open=${open} />`} /></div>
      <div class="stack" ref=${detail}><${ReviewDetail} key=${opened} id=${opened} version=${item?.version} act=${act} settle=${settle} /></div>
    </div>`}
    ${help && html`<${Dialog} title="Keys" onClose=${() => setHelp(false)}><table><tbody>${KEYS.map(([key, does]) => html`<tr><td><kbd>${key}</kbd></td><td>${does}</td></tr>`)}</tbody></table>
      <div class="actions"><${Button} onClick=${() => setHelp(false)}>Close<//></div><//>`}
    ${asking && html`<${EndDialog} item=${asking} onClose=${() => setAsking(null)} onDone=${() => (setAsking(null), setCurrent(null), pages.reload(), dispatchEvent(new Event("reviewed")))} />`}`;
}

function useKeys(actions) {
  const latest = useRef(actions);
  latest.current = actions;
  useEffect(() => {
    const pressed = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target.closest("input:not([type=checkbox]), textarea, select, dialog")) return;
      const action = latest.current[event.key];
      if (action) (event.preventDefault(), action());
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}

function QueueItem({ item, current, selected, toggle, open }) {
  return html`<div class="queue-item ${current ? "current" : ""}">
    <input type="checkbox" checked=${selected} onChange=${() => toggle(item.id)} aria-label=${`Select: ${item.memory.content.slice(0, 80)}`} />
    <button type="button" class="row" aria-current=${current} onClick=${() => open(item.id)}>
      <span class="row-text">${item.memory.content}</span>
      <span class="row-meta"><${Badge} text=${item.reason} tone="warn" /> ${item.memory.user_id ?? item.memory.scope} · ${ago(item.since)}</span>
    </button></div>`;
}

function Bulk({ items, selected, clear, flush, reload }) {
  const [reason, setReason] = useState("");
  const chosen = items.filter((one) => selected.has(one.id));
  if (!chosen.length) return null;
  const all = async (action) => {
    await flush();
    try {
      const decisions = chosen.slice(0, 200).map((one) => ({ id: one.id, version: one.version, action, ...(reason && { reason }) }));
      const { results } = await request("POST", "/admin/review/bulk", { body: { decisions } });
      const failed = results.filter((one) => one.status >= 300);
      notify(`${results.length - failed.length} decided${failed.length ? `, ${failed.length} failed: ${failed[0].problem.detail}` : ""}`, { bad: failed.length > 0 });
    } catch (error) {
      notify(error.message, { bad: true });
    }
    clear();
    reload();
    dispatchEvent(new Event("reviewed"));
  };
  return html`<div class="bulk card" role="group" aria-label="Bulk decision"><strong>${chosen.length} selected</strong>
    <${Field} label="Reason" hidden value=${reason} onChange=${setReason} placeholder="reason, for the audit log" />
    <${Button} kind="primary" onClick=${() => all("accept")}>Accept all<//><${Button} kind="danger" onClick=${() => all("reject")}>Reject all<//>
    <${Button} onClick=${clear}>Clear<//></div>`;
}

/** Say since when a belief no longer holds: it ends and stays as history, and the item leaves the queue. */
function EndDialog({ item, onClose, onDone }) {
  const [day, setDay] = useState(new Date().toISOString().slice(0, 10));
  const [error, setError] = useState(null);
  const end = async () => {
    try {
      await post(pathOf`/admin/review/${item.id}`, { action: "end", version: item.version, since: `${day}T00:00:00Z` });
      notify(`Ended since ${day}: it stays as history.`);
      onDone();
    } catch (failed) {
      setError(failed);
    }
  };
  return html`<${Dialog} title="End since…" onClose=${onClose}>
    <p>“${item.memory.content}” was true and no longer is. It stays as history and is not recalled as current.</p>
    <${Field} label="No longer true since" type="date" value=${day} onChange=${setDay} max=${new Date().toISOString().slice(0, 10)} />
    <${Failure} error=${error} />
    <div class="actions"><${Button} onClick=${onClose}>Cancel<//><${Button} kind="primary" onClick=${end}>End it<//></div>
  <//>`;
}
