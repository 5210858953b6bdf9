// State that pages share: data from the API, pages of a list, the address, small notices.

import { createContext, useCallback, useContext, useEffect, useRef, useState } from "../vendor/preact.js";
import { get } from "./api.js";

const FEW_ROWS = 25;
const MOST_SIFTED = 1000;

/** Who is logged in, and what they may do; see `app.js`. */
export const Session = createContext(null);
export const useSession = () => useContext(Session);

/** Call `reload` when the service is back, where `error` is that it was away. */
function useComeback(error, reload) {
  useEffect(() => {
    if (error?.status !== 0) return undefined;
    addEventListener("service-back", reload);
    return () => removeEventListener("service-back", reload);
  }, [error, reload]);
}

/** Load data whenever `dependencies` change: {data, error, loading, reload}. */
export function useData(load, dependencies) {
  const [state, setState] = useState({ data: null, error: null, loading: true });
  const turn = useRef(0);
  const reload = useCallback(() => {
    const mine = ++turn.current;
    setState((before) => ({ ...before, loading: true }));
    return load().then(
      (data) => mine === turn.current && setState({ data, error: null, loading: false }),
      (error) => mine === turn.current && setState({ data: null, error, loading: false }),
    );
  }, dependencies);
  useEffect(() => {
    reload();
    return () => turn.current++;
  }, [reload]);
  useComeback(state.error, reload);
  return { ...state, reload };
}

/** A query for all that the key may list: every scope for an admin, unless a user is named. */
export function withScopes(session, query) {
  return session.may("admin") && !query.owner ? { ...query, all: true } : query;
}

/** Load a list page by page: {items, error, loading, more, loadMore, reload, remove}. */
export function usePages(path, query, field) {
  const wanted = JSON.stringify([path, query]);
  const [state, setState] = useState({ items: [], cursor: null, error: null, loading: true });
  const current = useRef({ wanted, busy: false, turn: 0 });

  const load = useCallback(
    async (cursor, before, shown = before) => {
      const mine = ++current.current.turn;
      current.current.busy = true;
      setState((old) => ({ ...old, loading: true, items: shown }));
      try {
        const page = await get(path, { ...query, cursor });
        if (mine !== current.current.turn) return;
        setState({ items: [...before, ...page[field]], cursor: page.next_cursor, error: null, loading: false });
      } catch (error) {
        if (mine === current.current.turn) setState({ items: before, cursor: null, error, loading: false });
      }
      current.current.busy = false;
    },
    [wanted],
  );
  useEffect(() => {
    load(undefined, []);
  }, [load]);
  useComeback(state.error, useCallback(() => load(undefined, []), [load]));
  const loadMore = () => state.cursor && !current.current.busy && load(state.cursor, state.items);
  const remove = (lost) => setState((old) => ({ ...old, items: old.items.filter((one) => !lost(one)) }));
  return { ...state, more: state.cursor !== null, loadMore, remove, reload: () => load(undefined, [], state.items) };
}

/** Return a part of the address decoded, or as it stands where it is not encoded. */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Return the page's address: `#/memories/mem_1?q=tea` is {parts: ["memories", "mem_1"], query: {q: "tea"}}. */
export function readAddress() {
  const [path, text = ""] = location.hash.replace(/^#\/?/, "").split("?");
  return { parts: path.split("/").filter(Boolean).map(decoded), query: Object.fromEntries(new URLSearchParams(text)) };
}

export function useAddress() {
  const [found, setFound] = useState(readAddress);
  useEffect(() => {
    const changed = () => setFound(readAddress());
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return found;
}

/** Return the address of a page of the console. */
export function href(parts, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== "" && value !== undefined && value !== null);
  const text = new URLSearchParams(given).toString();
  return `#/${parts.map(encodeURIComponent).join("/")}${text ? `?${text}` : ""}`;
}

/** Filters that live in the address, so that a view can be sent to somebody: [query, change]. */
export function useFilters(parts) {
  const { query } = useAddress();
  const change = (changes) => {
    history.replaceState(null, "", href(parts, { ...readAddress().query, ...changes }));
    dispatchEvent(new HashChangeEvent("hashchange"));
  };
  return [query, change];
}

/** Return a value once it has not changed for a moment. */
export function useSettled(value, pause = 250) {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pause);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

/** Show a notice at the bottom of the page; `action` is {label, run}. It takes the place of one with the same `about`. */
export function notify(text, { bad = false, action = null, seconds = 6, about = text } = {}) {
  dispatchEvent(new CustomEvent("notice", { detail: { text, bad, action, seconds, about, id: Math.random() } }));
}

/** Return the rows of a list that `wanted` keeps; more pages are loaded while few are found, and at most `MOST_SIFTED` rows. */
export function useSifted(pages, wanted) {
  const rows = pages.items.filter(wanted);
  const few = rows.length < FEW_ROWS && pages.items.length < MOST_SIFTED;
  useEffect(() => {
    if (few && pages.more && !pages.loading) pages.loadMore();
  });
  return rows;
}

/** Run an asynchronous action and show a notice with what went wrong; return whether it worked. */
export async function attempt(work, success) {
  try {
    await work();
    if (success) notify(success);
    return true;
  } catch (error) {
    notify(error.message, { bad: true });
    return false;
  }
}

const narrow = matchMedia("(max-width: 640px)");

/** Whether the screen is as narrow as a telephone's, as in the style sheet. */
export function useNarrow() {
  const [matches, setMatches] = useState(narrow.matches);
  useEffect(() => {
    const changed = () => setMatches(narrow.matches);
    narrow.addEventListener("change", changed);
    return () => narrow.removeEventListener("change", changed);
  }, []);
  return matches;
}
