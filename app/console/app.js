// The console's shell: logging in, the menu by role, the page of the address, notices.

import { html, render, useEffect, useState } from "./vendor/preact.js";
import { forgetKey, get, request, storedKey, storeKey } from "./lib/api.js";
import { href, notify, readAddress, Session, useAddress } from "./lib/hooks.js";
import { Button, Failure, Field, Loading, Missing } from "./lib/ui.js";

/** Name in the address and of the file, title, what the file exports, and the role without which it is not offered. */
const PAGES = [
  ["home", "Home", "HomePage", "read"],
  ["review", "Review", "ReviewPage", "review"],
  ["memories", "Memories", "MemoriesPage", "read"],
  ["users", "Users", "UsersPage", "read"],
  ["turns", "Turns", "TurnsPage", "read"],
  ["entities", "Entities", "EntitiesPage", "read"],
  ["playground", "Playground", "PlaygroundPage", "read"],
  ["query-log", "Query log", "QueryLogPage", "admin"],
  ["jobs", "Jobs", "JobsPage", "read"],
  ["workers", "Workers", "WorkersPage", "admin"],
  ["types", "Types", "TypesPage", "read"],
  ["audit", "Audit", "AuditPage", "admin"],
  ["webhooks", "Webhooks", "WebhooksPage", "admin"],
  ["connections", "Connections", "ConnectionsPage", "admin"],
  ["settings", "Settings", "SettingsPage", "admin"],
];
const THEMES = ["auto", "light", "dark"];
const WAITING_SECONDS = 10;

const loaded = new Map();
/** Load a page's file; browsers remember one that failed by its address, so that each try has another. */
const load = async ([name, , component], tried = 0) => loaded.set(name, (await import(`./pages/${name}.js${tried ? `?${tried}` : ""}`))[component]);

/** Return a page's component, null until its file is there. */
function usePage(page) {
  const [name] = page;
  const [, redraw] = useState(null);
  useEffect(() => {
    let tried = 0;
    const attempt = () => loaded.has(name) || load(page, tried++).then(() => redraw(name)).catch(() => dispatchEvent(new Event("service-away")));
    attempt();
    addEventListener("service-back", attempt);
    return () => removeEventListener("service-back", attempt);
  }, [name]);
  return loaded.get(name) ?? null;
}

function Login({ onLogin }) {
  const [key, setKey] = useState("");
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      const who = await request("GET", "/whoami", { key: key.trim() });
      storeKey(key.trim());
      onLogin(who);
    } catch (refused) {
      setError(refused);
    }
    setBusy(false);
  };
  return html`<main class="login">
    <form onSubmit=${submit} class="card">
      <h1><img src="admin/icon.svg" alt="" width="28" height="28" /> Typed Memory</h1>
      <p class="muted">Log in with an API key of your tenant. It stays in this browser tab and is gone when you close it.</p>
      <${Field} label="API key" type="password" value=${key} onChange=${setKey} autocomplete="off" required
        placeholder="tm_…" spellcheck="false" />
      <${Failure} error=${error} />
      <button class="button primary" type="submit" disabled=${busy || !key.trim()}>Log in</button>
      <p class="muted small">The first start of the service prints a key; <code>typed-memory keys create</code> makes more.</p>
    </form>
  </main>`;
}

/** Why a stored key cannot be used now; it is kept for another try. */
function Interrupted({ failure, onAgain, onLogout }) {
  return html`<main class="login"><div class="card stack">
    <h1><img src="admin/icon.svg" alt="" width="28" height="28" /> Typed Memory</h1>
    <${Failure} error=${failure} />
    <div class="actions"><${Button} kind="primary" onClick=${onAgain}>Try again<//><${Button} onClick=${onLogout}>Log out<//></div>
  </div></main>`;
}

function useTheme() {
  const [theme, setTheme] = useState(localStorage.getItem("typed-memory.theme") ?? "auto");
  useEffect(() => {
    localStorage.setItem("typed-memory.theme", theme);
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    dispatchEvent(new Event("theme"));
  }, [theme]);
  return [theme, () => setTheme(THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length])];
}

function Notices() {
  const [shown, setShown] = useState([]);
  useEffect(() => {
    const drop = (id) => setShown((old) => old.filter((one) => one.id !== id));
    const add = ({ detail }) => {
      setShown((old) => [...old.filter((one) => one.about !== detail.about).slice(-2), { ...detail, drop: () => drop(detail.id) }]);
      setTimeout(() => drop(detail.id), detail.seconds * 1000);
    };
    addEventListener("notice", add);
    return () => removeEventListener("notice", add);
  }, []);
  return html`<div class="notices" role="status" aria-live="polite">${shown.map((one) => html`<div class="notice ${one.bad ? "bad" : ""}" key=${one.id}>
    <span>${one.text}</span>
    ${one.action && html`<${Button} onClick=${() => (one.action.run(), one.drop())}>${one.action.label}<//>`}
    <button type="button" class="plain" aria-label="Close" onClick=${one.drop}>×</button>
  </div>`)}</div>`;
}

/** Whether the service is ready, and how many reviews wait; looked at now and then. */
function useHealth(session) {
  const [health, setHealth] = useState({ ready: null, waiting: 0, away: false });
  const look = async () => {
    if (document.hidden) return;
    const ready = await get("/readyz").catch(({ status, body }) => (status ? body : null));
    const summary = ready && session.may("review") ? await get("/admin/review/summary").catch(() => null) : null;
    setHealth((old) => ({ ...old, ready: ready ?? old.ready, waiting: summary?.waiting ?? old.waiting }));
  };
  useEffect(() => {
    let away = false;
    const turned = (now) => () => {
      if (away === now) return;
      away = now;
      setHealth((old) => ({ ...old, away }));
      if (!away) dispatchEvent(new Event("service-back"));
    };
    const watched = { "service-away": turned(true), "service-there": turned(false) };
    for (const [name, run] of Object.entries(watched)) addEventListener(name, run);
    return () => {
      for (const [name, run] of Object.entries(watched)) removeEventListener(name, run);
    };
  }, []);
  useEffect(() => {
    look();
    const timer = setInterval(look, WAITING_SECONDS * 1000);
    addEventListener("reviewed", look);
    return () => {
      clearInterval(timer);
      removeEventListener("reviewed", look);
    };
  }, [session]);
  return { ...health, look };
}

function Menu({ current, session, waiting }) {
  const offered = PAGES.filter(([, , , role]) => session.may(role));
  return html`<nav aria-label="Pages"><ul>${offered.map(([name, title]) => html`<li>
    <a href=${href([name])} aria-current=${name === current ? "page" : undefined}>${title}
      ${name === "review" && waiting > 0 && html`<span class="count" aria-label=${`${waiting} waiting`}>${waiting}</span>`}</a></li>`)}
  </ul></nav>`;
}

function Lamp({ ready, away }) {
  if (away) return html`<span class="lamp bad" role="img" aria-label="the service cannot be reached"><i class="dot" aria-hidden="true"></i><span class="lamp-text">not reachable</span></span>`;
  if (!ready) return html`<span class="lamp muted">…</span>`;
  const troubles = Object.entries({ ...ready.reasons, ...ready.degraded }).map(([name, why]) => `${name}: ${why}`);
  const tone = !ready.ready ? "bad" : troubles.length ? "warn" : "good";
  const text = !ready.ready ? "not ready" : troubles.length ? "degraded" : "ready";
  return html`<span class="lamp ${tone}" role="img" aria-label=${`the service is ${text}`} title=${troubles.join("\n") || "the service is ready"}><i class="dot" aria-hidden="true"></i><span class="lamp-text">${text}</span></span>`;
}

function Shell({ session, onLogout }) {
  const { parts, query } = useAddress();
  const [theme, nextTheme] = useTheme();
  const [open, setOpen] = useState(false);
  const { ready, waiting, away, look } = useHealth(session);
  const offered = PAGES.filter(([, , , role]) => session.may(role));
  const known = !parts.length || offered.some(([one]) => one === parts[0]);
  const page = offered.find(([one]) => one === parts[0]) ?? offered[0];
  const [name, title] = page;
  const Page = usePage(page);
  useEffect(() => {
    document.title = `${known ? title : "Not found"} · Typed Memory`;
    setOpen(false);
    document.querySelector("main h1")?.focus?.({ preventScroll: true });
    scrollTo(0, 0);
  }, [location.hash.split("?")[0], Page]);
  const shown = () => {
    if (!known) return html`<${Missing} error=${PAGES.some(([one]) => one === parts[0]) ? { message: "Your key has no role for this page." } : null} />`;
    if (Page) return html`<${Page} key=${name} parts=${parts.slice(1)} query=${query} />`;
    return away ? html`<p class="muted">Not loaded.</p>` : html`<${Loading} />`;
  };
  return html`<${Session.Provider} value=${session}>
    <a class="skip" href="#content" onClick=${(event) => (event.preventDefault(), document.getElementById("content").focus())}>Skip to content</a>
    <header class="top">
      <button type="button" class="plain menu-button" aria-expanded=${open} aria-controls="menu" onClick=${() => setOpen(!open)}>☰<span class="visually-hidden"> Menu</span></button>
      <a class="brand" href=${href(["home"])}><img src="admin/icon.svg" alt="" width="22" height="22" /> Typed Memory</a>
      <span class="tenant" title=${session.who.tenant_id}>${session.who.tenant}</span>
      <span class="space"></span>
      <${Lamp} ready=${ready} away=${away} />
      <span class="muted who" title=${session.who.roles.join(", ")}>${session.who.key_name} · ${session.role}</span>
      <${Button} onClick=${nextTheme} aria-label=${`Colours: ${theme}. Change.`}>${{ auto: "◐", light: "☀", dark: "☾" }[theme]}<//>
      <${Button} onClick=${onLogout}>Log out<//>
    </header>
    ${away && html`<div class="away" role="alert"><span>The service cannot be reached.</span><${Button} onClick=${look}>Try again<//></div>`}
    <div class="frame">
      <aside id="menu" class=${open ? "open" : ""}><${Menu} current=${known ? name : ""} session=${session} waiting=${waiting} /></aside>
      <main id="content" tabindex="-1">${shown()}</main>
    </div>
    <${Notices} />
  <//>`;
}

function sessionOf(who) {
  const roles = new Set(who.roles);
  const role = ["admin", "write", "review", "read"].find((one) => roles.has(one));
  return { who, role, may: (wanted) => roles.has(wanted) || roles.has("admin") };
}

function App() {
  const [session, setSession] = useState(null);
  const [ready, setReady] = useState(!storedKey());
  const [failure, setFailure] = useState(null);
  const logout = () => (forgetKey(), setSession(null), setFailure(null));
  const resume = () => {
    setReady(false);
    setFailure(null);
    // A refused key is forgotten by "key-refused"; with any other failure it may be as good as before.
    get("/whoami").then((who) => setSession(sessionOf(who))).catch((error) => error.status !== 401 && setFailure(error)).finally(() => setReady(true));
  };
  useEffect(() => {
    addEventListener("key-refused", logout);
    if (storedKey()) {
      // Beside the question who is logged in; if it fails, the page says so when it is drawn.
      load(PAGES.find(([one]) => one === readAddress().parts[0]) ?? PAGES[0]).catch(() => {});
      resume();
    }
    return () => removeEventListener("key-refused", logout);
  }, []);
  if (!ready) return html`<p class="muted login">Loading…</p>`;
  if (failure) return html`<${Interrupted} failure=${failure} onAgain=${resume} onLogout=${logout} />`;
  if (!session) return html`<${Login} onLogin=${(who) => setSession(sessionOf(who))} />`;
  return html`<${Shell} session=${session} onLogout=${logout} />`;
}

const root = document.getElementById("app");
root.replaceChildren();
render(html`<${App} />`, root);
