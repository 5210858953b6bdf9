// Review: the queue, one item with both sides, and a decision by one key.

import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { pathOf, post, request, storedKey } from "../lib/api.js";
import { ago, words } from "../lib/format.js";
import { href, notify, useFilters, usePages } from "../lib/hooks.js";
import { Badge, Button, Card, Dialog, Empty, Failure, Field, HIDDEN, LongList, PageTitle, noRows, tellsSecret } from "../lib/ui.js";
import { ReviewDetail } from "./review-detail.js";

const REASONS = ["contradiction", "constraint", "doubtful", "reported_wrong", "volatile", "entity_merge", "asked"];
const UNDO_SECONDS = 5;
const KEYS = [["j", "next item"], ["k", "previous item"], ["a", "accept"], ["r", "reject"], ["b", "keep both"], ["s", "supersede with the other side"],
  ["m", "merge with the other side"], ["e", "end since a day"], ["x", "select for a bulk decision"], ["u", "undo"], ["?", "this list"]];

/** What an item says, in a list. */
const told = (item) => (tellsSecret(item.note) ? HIDDEN : item.memory.content);

/** Decisions wait a moment before they are sent; a new one sends the one before. What was sent is undone by the service.
 *
 * A decision holds the key that it was made with, because logging out forgets the key before it sends what waits.
 *
 * `onReturn` is called with an item that waits for a decision again, because sending failed or the service undid it. */
function useDecisions(onReturn) {
  const made = useRef([]);
  const waiting = useRef(null);
  const returned = useRef(onReturn);
  returned.current = onReturn;
  const forget = (decision) => (made.current = made.current.filter((one) => one !== decision));
  const send = async ({ item, body, key }, keepalive) => {
    try {
      await request("POST", pathOf`/admin/review/${item.id}`, { body, key, keepalive });
      dispatchEvent(new Event("reviewed"));
      return true;
    } catch (error) {
      notify(error.message, { bad: true, seconds: 10, about: item.id });
      returned.current(item);
      return false;
    }
  };
  const flush = async (keepalive = false) => {
    const decision = waiting.current;
    if (!decision) return;
    waiting.current = null;
    clearTimeout(decision.timer);
    decision.sent = send(decision, keepalive);
    if (!(await decision.sent)) forget(decision);
  };
  const revert = async (decision) => {
    const { item } = decision;
    decision.undoing = true;
    // Asked before it has the decision, the service would undo an older one of the item.
    if (!(await decision.sent)) return;
    try {
      await post(pathOf`/admin/review/${item.id}/undo`, {});
      forget(decision);
      notify(`Undone: it waits again. ${told(item).slice(0, 60)}`, { about: item.id });
      dispatchEvent(new Event("reviewed"));
    } catch (error) {
      decision.undoing = false;
      notify(error.message, { bad: true, seconds: 10 });
    }
    returned.current(item);
  };
  const undo = (decision) => {
    if (decision.undoing) return undefined;
    if (decision !== waiting.current) return revert(decision);
    waiting.current = null;
    clearTimeout(decision.timer);
    forget(decision);
    decision.restore();
    return notify("Undone: nothing was changed.", { about: decision.item.id });
  };
  const undoLatest = () => {
    const latest = made.current.findLast((one) => !one.undoing);
    return latest ? undo(latest) : notify("Nothing to undo here: open a decided item to undo its decision.");
  };
  const decide = (item, body, restore) => {
    flush();
    const decision = { item, body, key: storedKey(), restore, timer: setTimeout(flush, UNDO_SECONDS * 1000) };
    waiting.current = decision;
    made.current.push(decision);
    notify(`${words(body.action)}: ${told(item).slice(0, 60)}`, { action: { label: "Undo", run: () => undo(decision) }, seconds: UNDO_SECONDS, about: item.id });
  };
  /** Note decisions that were sent in another way, so that the latest decision is the one that `undoLatest` undoes. */
  const record = (items) => made.current.push(...items.map((item) => ({ item, sent: true })));
  useEffect(() => {
    const leaving = () => flush(true);
    addEventListener("pagehide", leaving);
    return () => (removeEventListener("pagehide", leaving), flush());
  }, []);
  return { decide, record, undoLatest, flush };
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
  const place = current ? items.findIndex((one) => one.id === current) : 0;
  // An item that is opened by its id, or that the filters leave out, is shown without a place in the list.
  const item = items[place] ?? null;
  const opened = current ?? item?.id;
  const unhide = (one) => setHidden((old) => new Set([...old].filter((id) => id !== one.id)));
  const { decide, record, undoLatest, flush } = useDecisions((one) => (unhide(one), pages.reload()));

  const detail = useRef(null);
  const shown = useRef(null);
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
    decide(one, body, () => (unhide(one), setCurrent(one.id)));
  };
  const act = (action, one, other) => {
    if (action === "end") setAsking(one);
    else settle(one, action, ["supersede_with", "merge"].includes(action) ? { with: other } : {});
  };
  const decideBy = (action) => () => shown.current?.offered.has(action) && act(action, shown.current.item, shown.current.other);
  useKeys({ j: () => go(1), k: () => go(-1), a: decideBy("accept"), r: decideBy("reject"), b: decideBy("keep_both"), s: decideBy("supersede_with"),
    m: decideBy("merge"), e: decideBy("end"), u: undoLatest, x: () => item && toggle(item.id), "?": () => setHelp(true) });
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
      <div><${Bulk} items=${items} selected=${selected} clear=${() => setSelected(new Set())} flush=${flush} record=${record} reload=${() => (setCurrent(null), pages.reload())} />
        <${LongList} label="Queue" items=${items} rowHeight=${66} more=${pages.more} onEnd=${pages.loadMore} height="72vh"
          row=${(one) => html`<${QueueItem} item=${one} current=${one.id === opened} selected=${selected.has(one.id)} toggle=${toggle} open=${open} />`} /></div>
      <div class="stack" ref=${detail}><${ReviewDetail} key=${opened} id=${opened} version=${item?.version} shown=${shown} act=${act} settle=${settle} /></div>
    </div>`}
    ${help && html`<${Dialog} title="Keys" onClose=${() => setHelp(false)}><table><tbody>${KEYS.map(([key, does]) => html`<tr><td><kbd>${key}</kbd></td><td>${does}</td></tr>`)}</tbody></table>
      <div class="actions"><${Button} onClick=${() => setHelp(false)}>Close<//></div><//>`}
    ${asking && html`<${EndDialog} item=${asking} onClose=${() => setAsking(null)} onDone=${() => (record([asking]), setAsking(null), setCurrent(null), pages.reload(), dispatchEvent(new Event("reviewed")))} />`}`;
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
    <input type="checkbox" checked=${selected} onChange=${() => toggle(item.id)} aria-label=${`Select: ${told(item).slice(0, 80)}`} />
    <button type="button" class="row" aria-current=${current} onClick=${() => open(item.id)}>
      <span class="row-text">${told(item)}</span>
      <span class="row-meta"><${Badge} text=${item.reason} tone="warn" /> ${item.memory.user_id ?? item.memory.scope} · ${ago(item.since)}</span>
    </button></div>`;
}

function Bulk({ items, selected, clear, flush, record, reload }) {
  const [reason, setReason] = useState("");
  const chosen = items.filter((one) => selected.has(one.id));
  if (!chosen.length) return null;
  const all = async (action) => {
    await flush();
    try {
      const sent = chosen.slice(0, 200);
      const decisions = sent.map((one) => ({ id: one.id, version: one.version, action, ...(reason && { reason }) }));
      const { results } = await request("POST", "/admin/review/bulk", { body: { decisions } });
      const failed = results.filter((one) => one.status >= 300);
      record(sent.filter((_, place) => results[place].status < 300));
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
