// Parts that every page is made of.

import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { ago, fraction, short, when, words } from "./format.js";
import { href, notify, useNarrow, useSession } from "./hooks.js";

const TONES = {
  active: "good", accepted: "good", succeeded: "good", processed: "good", added: "good", finished: "good", delivered: "good",
  pending: "warn", contradicted: "warn", review: "warn", queued: "warn", running: "warn", received: "warn", waiting: "warn", paused: "warn",
  superseded: "muted", expired: "muted", skipped: "muted", merged: "info", previewed: "info",
  forgotten: "bad", failed: "bad", rejected: "bad", extraction_failed: "bad", cancelled: "muted", off: "muted",
};

/** A status, a decision or a type as a small label. */
export const Badge = ({ text, tone }) => html`<span class="badge ${tone ?? TONES[text] ?? "plain"}">${words(text)}</span>`;

export const Time = ({ at, relative }) =>
  at ? html`<time datetime=${at} title=${at}>${relative ? ago(at) : when(at)}</time>` : html`<span class="muted">–</span>`;

/** A number from 0 to 1 as a bar with its digits. */
export function Meter({ value, label, tone = "" }) {
  const wide = Math.max(0, Math.min(1, value ?? 0)) * 100;
  return html`<span class="meter" role="img" aria-label=${`${label ?? "value"} ${fraction(value)}`}>
    <span class="meter-track"><span class="meter-fill ${tone}" style=${`width:${wide}%`}></span></span>
    <span class="meter-digits" aria-hidden="true">${fraction(value)}</span>
  </span>`;
}

export function Card({ title, actions, children, className = "" }) {
  return html`<section class="card ${className}">
    ${title && html`<header class="card-head"><h2>${title}</h2>${actions && html`<div class="actions">${actions}</div>`}</header>`}
    ${children}
  </section>`;
}

export const Loading = () => html`<p class="muted" role="status">Loading…</p>`;
export const Empty = ({ children }) => html`<p class="empty">${children}</p>`;

/** What a list without rows says: that it loads, that its filters leave nothing, or `first`, how its first row comes. */
export function noRows(pages, filters, thing, first) {
  if (pages.loading) return "Loading…";
  const filtered = Object.entries(filters).some(([name, value]) => value && name !== "sort");
  return filtered ? `No ${thing} matches the filters.` : first;
}

/** How the first memory comes, to a list of what is stored. */
export const firstWrite = (session) =>
  session.may("admin")
    ? html`Nothing is stored yet. For the first memory: <code>typed-memory remember "I moved to Berlin." --user-id ana</code>`
    : "Nothing is stored for everyone. Name a user to see what is stored for them.";

/** What went wrong, and where; that the service is away is said once, at the top of every page. */
export function Failure({ error }) {
  const session = useSession();
  if (!error) return null;
  if (error.status === 0 && session) return html`<p class="muted">Not loaded.</p>`;
  return html`<div class="failure" role="alert">
    <strong>${error.message}</strong>
    ${error.errors?.length > 0 && html`<ul>${error.errors.map((one) => html`<li><code>${one.field}</code> ${one.message}</li>`)}</ul>`}
  </div>`;
}

const UNKNOWN = [404, 422];

/** Whether what `useData` asked for by its id is not there. */
export const isMissing = (of) => UNKNOWN.includes(of.error?.status);

/** The page of what is not there, with the way to the list of those that are. */
export const Missing = ({ error, list }) => html`<${PageTitle}>Not found<//>
  <${Card}><p>${error?.message ?? "There is no such page."}</p><a class="button" href=${href([list ?? "home"])}>${list ? `All ${words(list)}` : "Home"}</a><//>`;

/** A button that puts a text on the clipboard. */
export function Copy({ text, label = "Copy" }) {
  const copy = () => navigator.clipboard.writeText(text).then(() => notify("Copied."), () => notify("The browser does not allow it: select the text instead.", { bad: true }));
  return html`<${Button} onClick=${copy}>${label}<//>`;
}

/** A key or a secret that was made just now: hidden until it is wanted. */
export function Secret({ text }) {
  const [shown, setShown] = useState(false);
  return html`<span class="secret"><code>${shown ? text : `${text.slice(0, 3)}${"•".repeat(16)}`}</code>
    <${Button} onClick=${() => setShown(!shown)} aria-pressed=${shown}>${shown ? "Hide" : "Show"}<//><${Copy} text=${text} /></span>`;
}

/** Whether a reason to look at something is that it holds a secret. */
export const tellsSecret = (reason) => /\bit holds an? /.test(reason ?? "");

/** A text that is shown by a click alone, if `hidden`. */
export function Masked({ hidden, children }) {
  const [shown, setShown] = useState(false);
  if (!hidden || shown) return children;
  return html`<span class="secret"><span aria-hidden="true">${"•".repeat(12)}</span> <span class="muted">holds a secret</span> <${Button} onClick=${() => setShown(true)}>Show<//></span>`;
}

export const HIDDEN = "•••••••• holds a secret";

/** The data of `useData`, once it is there. */
export function Loaded({ of, children }) {
  if (of.error) return html`<${Failure} error=${of.error} />`;
  if (of.data === null) return html`<${Loading} />`;
  return children(of.data);
}

export function Table({ label, columns, rows, empty = "Nothing here." }) {
  if (!rows.length) return html`<${Empty}>${empty}<//>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${label}>
    <table class="records">
      <thead><tr>${columns.map((one) => html`<th scope="col" class=${one.number ? "number" : ""}>${one.title}</th>`)}</tr></thead>
      <tbody>${rows.map((row, place) => html`<tr key=${row.id ?? place}>
        ${columns.map((one) => html`<td class=${one.number ? "number" : ""} data-title=${one.title}>${one.cell(row)}</td>`)}</tr>`)}
      </tbody>
    </table>
  </div>`;
}

/** Names and values, one pair a line; pairs without a value are left out. */
export function Pairs({ pairs }) {
  const shown = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return html`<dl class="pairs">${shown.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** A labelled form field; `type` is that of an input, or "select" with `options`, or "textarea". */
export function Field({ label, value, onChange, type = "text", options, hint, hidden, ...rest }) {
  const id = useRef(`field-${Math.random().toString(36).slice(2)}`).current;
  const changed = (event) => onChange(type === "checkbox" ? event.target.checked : event.target.value);
  let control;
  if (type === "select") {
    control = html`<select id=${id} value=${value ?? ""} onChange=${changed} ...${rest}>
      ${options.map((one) => {
        const [key, text] = Array.isArray(one) ? one : [one, words(one)];
        return html`<option value=${key} selected=${key === (value ?? "")}>${text}</option>`;
      })}</select>`;
  } else if (type === "textarea") {
    control = html`<textarea id=${id} value=${value ?? ""} onInput=${changed} ...${rest}></textarea>`;
  } else if (type === "checkbox") {
    return html`<label class="check" for=${id}><input id=${id} type="checkbox" checked=${value} onChange=${changed} ...${rest} /> ${label}</label>`;
  } else {
    control = html`<input id=${id} type=${type} value=${value ?? ""} onInput=${changed} ...${rest} />`;
  }
  return html`<div class="field">
    <label for=${id} class=${hidden ? "visually-hidden" : ""}>${label}</label>${control}
    ${hint && html`<small class="muted">${hint}</small>`}
  </div>`;
}

export const Button = ({ children, kind = "", ...rest }) =>
  html`<button type="button" class="button ${kind}" ...${rest}>${children}</button>`;

/** A button that asks for confirmation in a dialog; with `word`, the word must be typed. `onConfirm` is given whether `choice`, the label of a check box, was taken. */
export function Confirm({ label, title, text, word, choice, kind = "danger", onConfirm, ...rest }) {
  const [open, setOpen] = useState(false);
  const [typed, setTyped] = useState("");
  const [chosen, setChosen] = useState(false);
  const close = () => (setOpen(false), setTyped(""), setChosen(false));
  return html`<${Button} kind=${kind} onClick=${() => setOpen(true)} ...${rest}>${label}<//>
    ${open && html`<${Dialog} title=${title} onClose=${close}>
      <p>${text}</p>
      ${word && html`<${Field} label=${`Type ${word} to confirm`} value=${typed} onChange=${setTyped} autocomplete="off" />`}
      ${choice && html`<p><label><input type="checkbox" checked=${chosen} onChange=${(event) => setChosen(event.target.checked)} /> ${choice}</label></p>`}
      <div class="actions">
        <${Button} onClick=${close}>Cancel<//>
        <${Button} kind=${kind === "danger" ? "danger solid" : "primary"} disabled=${Boolean(word) && typed !== word}
          onClick=${() => (close(), onConfirm(chosen))}>${label}<//>
      </div>
    <//>`}`;
}

export function Dialog({ title, onClose, children }) {
  const box = useRef(null);
  useEffect(() => {
    const before = document.activeElement;
    box.current.showModal();
    return () => before?.focus?.();
  }, []);
  return html`<dialog ref=${box} aria-label=${title} onClose=${onClose} onCancel=${onClose}>
    <h2>${title}</h2>${children}
  </dialog>`;
}

/** A list of any length of which only the visible rows are drawn; rows are a line higher where the screen is narrow. */
export function LongList({ items, rowHeight: wideRow, row, more, onEnd, label, height = "70vh" }) {
  const box = useRef(null);
  const [top, setTop] = useState(0);
  const rowHeight = wideRow + (useNarrow() ? 20 : 0);
  const seen = (box.current?.clientHeight || 700) + 2 * rowHeight;
  const first = Math.max(0, Math.floor(top / rowHeight) - 5);
  const last = Math.min(items.length, first + Math.ceil(seen / rowHeight) + 10);
  useEffect(() => {
    if (more && last >= items.length - 20) onEnd();
  });
  return html`<div class="long-list" ref=${box} style=${`max-height:${height}`} role="region" aria-label=${label} tabindex="0"
      onScroll=${(event) => setTop(event.target.scrollTop)}>
    <ul style=${`height:${items.length * rowHeight}px`}>
      ${items.slice(first, last).map((one, place) => html`<li key=${one.id ?? first + place}
        style=${`top:${(first + place) * rowHeight}px;height:${rowHeight}px`}>${row(one, first + place)}</li>`)}
    </ul>
  </div>`;
}

/** Text with the parts that equal one of the quotes marked. */
export function Marked({ text, quotes }) {
  const [first] = quotes.filter(Boolean).map((one) => [text.toLowerCase().indexOf(one.toLowerCase()), one.length])
    .filter(([at]) => at >= 0).sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  if (!first) return html`<span>${text}</span>`;
  const [at, end] = [first[0], first[0] + first[1]];
  return html`<span>${text.slice(0, at)}<mark>${text.slice(at, end)}</mark><${Marked} text=${text.slice(end)} quotes=${quotes} /></span>`;
}

/** A sentence of the audit log; the memories that it names by their ids become links. */
export function Sentence({ text }) {
  const parts = text.split(/(mem_[0-9a-f]{32})/);
  return html`<span>${parts.map((one, place) => (place % 2 ? html`<${MemoryLink} id=${one}>${short(one)}<//>` : one))}</span>`;
}

export const MemoryLink = ({ id, children }) => html`<a href=${href(["memories", id])}>${children ?? id}</a>`;
export const PageTitle = ({ children, aside }) => html`<div class="page-title"><h1 tabindex="-1">${children}</h1>${aside}</div>`;
export const Json = ({ value }) => html`<pre class="json" tabindex="0">${JSON.stringify(value, null, 2)}</pre>`;
