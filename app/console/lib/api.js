// Requests to the service, with the key of this browser tab.

const BASE = new URL("../../", import.meta.url);
const AGAIN_SOON_MS = 500;
const READ_MS = 30_000;
const STORED_KEY = "typed-memory.key";

/** A refused request: the service's problem document (RFC 9457). */
export class Problem extends Error {
  constructor(status, body) {
    super(body?.detail || body?.title || `the service answered ${status}`);
    this.status = status;
    this.body = body ?? {};
    this.errors = this.body.errors ?? [];
  }
}

export const storedKey = () => sessionStorage.getItem(STORED_KEY);
export const storeKey = (key) => sessionStorage.setItem(STORED_KEY, key);
export const forgetKey = () => sessionStorage.removeItem(STORED_KEY);

/** A path of the API, as a tagged template: a value in it stays one segment, whatever its characters. */
export const pathOf = (parts, ...values) => String.raw(parts, ...values.map(segment));

/** Return a value as a segment of a path; dots alone get a space after them, or the URL parser would walk up. */
const segment = (value) => (/^\.{1,2}$/.test(value) ? `${value}%20` : encodeURIComponent(value));

/** Return an address of the API with a query string; empty values are left out, lists are repeated. */
export function address(path, query = {}) {
  const url = new URL(path.replace(/^\//, ""), BASE);
  for (const [name, value] of Object.entries(query)) {
    const values = Array.isArray(value) ? value : [value];
    for (const one of values) {
      if (one !== undefined && one !== null && one !== "") url.searchParams.append(name, one);
    }
  }
  return url;
}

async function parsed(response) {
  const text = await response.text();
  if (!text) return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Send a request and return the parsed answer; raise Problem. */
export async function request(method, path, { query, body, key, keepalive } = {}) {
  const headers = { Authorization: `Bearer ${key ?? storedKey()}` };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (method === "POST" || method === "DELETE" || method === "PATCH") {
    headers["Idempotency-Key"] = crypto.randomUUID?.() ?? String(Math.random()).slice(2) + Date.now();
  }
  const options = { method, headers, keepalive, credentials: "omit", cache: "no-store" };
  // What reads is given up after a while; what writes may take its time.
  const signal = () => (method === "GET" ? AbortSignal.timeout(READ_MS) : undefined);
  const send = () => fetch(address(path, query), { ...options, signal: signal(), body: body === undefined ? undefined : JSON.stringify(body) });
  // Sent once more if the connection failed: what writes carries an idempotency key.
  const response = await send().catch(() => new Promise((done) => setTimeout(done, AGAIN_SOON_MS)).then(send)).catch(() => {
    dispatchEvent(new Event("service-away"));
    throw new Problem(0, { detail: "the service cannot be reached" });
  });
  dispatchEvent(new Event("service-there"));
  const content = await parsed(response);
  if (!response.ok) {
    if (response.status === 401 && key === undefined) dispatchEvent(new CustomEvent("key-refused"));
    throw new Problem(response.status, content);
  }
  return content;
}

export const get = (path, query) => request("GET", path, { query });
export const post = (path, body, query) => request("POST", path, { body: body ?? undefined, query });
export const del = (path, query) => request("DELETE", path, { query });

/** Fetch a file with the key and hand it to the browser to save. */
export async function download(path, query, name) {
  const response = await fetch(address(path, query), { headers: { Authorization: `Bearer ${storedKey()}` } });
  if (!response.ok) throw new Problem(response.status, await parsed(response));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
