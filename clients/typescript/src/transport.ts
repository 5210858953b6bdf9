// One service at one URL with one key: requests, identity, retries.
import { ConnectionFailed, TimedOut, Unauthorized, errorOf } from "./errors.ts";

export interface ClientOptions {
  /** By default TM_URL, or the service on this machine. */
  url?: string;
  /** By default TM_API_KEY. */
  apiKey?: string;
  /** How often a request is sent at most; 3 by default. */
  attempts?: number;
  /** For one attempt, in milliseconds; 30,000 by default. */
  timeoutMs?: number;
  /** Instead of the global `fetch`. */
  fetch?: typeof fetch;
}

/** Whose memories a client writes and finds. */
export interface Identity {
  user_id?: string;
  agent_id?: string;
}

/** Query parameters; a list is repeated, null and undefined are left out. */
export type Params = Readonly<Record<string, unknown>>;

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly params?: Params;
  readonly body?: unknown;
  readonly idempotencyKey?: string | undefined;
}

const DEFAULT_URL = "http://127.0.0.1:8700";
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 15_000;
/** A limit that lasts longer than the minute's, as the day's does, is final. */
const LONGEST_LIMIT_MS = 60_000;
const TRANSIENT: ReadonlySet<number> = new Set([429, 502, 503, 504]);

export class Transport {
  readonly url: string;
  readonly #key: string;
  readonly #attempts: number;
  readonly #timeoutMs: number;
  readonly #fetch: typeof fetch;

  constructor(options: ClientOptions) {
    this.url = (options.url ?? environment("TM_URL") ?? DEFAULT_URL).replace(/\/+$/, "");
    // A path is a URL in a browser.
    if (/^[^/]/.test(this.url) && !this.url.includes("://")) throw new TypeError(`${this.url} is no URL: write http://${this.url} (or https://)`);
    const key = options.apiKey ?? environment("TM_API_KEY");
    if (key === undefined) throw new Unauthorized(0, undefined, "no API key: pass apiKey or set TM_API_KEY");
    this.#key = key;
    this.#attempts = Math.max(1, options.attempts ?? 3);
    this.#timeoutMs = options.timeoutMs ?? 30_000;
    // Called as a property of this, a browser refuses its own fetch.
    this.#fetch = options.fetch ?? globalThis.fetch.bind(globalThis);
  }

  /**
   * Send a call until it is answered, and return its JSON. Writes carry an idempotency key, so that one whose answer
   * was lost is done once.
   */
  async send<Answer>(call: Call): Promise<Answer> {
    const request = this.#request(call);
    for (let attempt = 1; ; attempt += 1) {
      const last = attempt === this.#attempts;
      const response = await this.#exchange(call, request, last);
      if (response?.ok) return (response.text === "" ? null : JSON.parse(response.text)) as Answer;
      const wait = waitBeforeRetry(attempt, response?.status, response?.retryAfter ?? null);
      if (response !== undefined && (wait === undefined || last)) throw errorOf(response.status, response.text);
      await sleep(wait ?? 0);
    }
  }

  /** Send a call once, and yield the name and the data of each server-sent event of its answer. */
  async *events(call: Call): AsyncGenerator<ServerEvent, void> {
    const request = this.#request(call, { Accept: "text/event-stream" });
    const response = await this.#fetch(this.url + call.path, request).catch((error) => {
      throw this.#unreached(error);
    });
    if (!response.ok || response.body === null) throw errorOf(response.status, await response.text());
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    try {
      for (let rest = "", part = await reader.read(); !part.done; part = await reader.read()) {
        const blocks = (rest + part.value).split("\n\n");
        rest = blocks.pop() ?? "";
        for (const block of blocks) {
          const [, name, data] = /^event: (.+)\ndata: (.+)$/.exec(block) ?? [];
          if (name !== undefined && data !== undefined) yield { name, data };
        }
      }
    } finally {
      await reader.cancel();
    }
  }

  #request(call: Call, more: Record<string, string> = {}): RequestInit & { headers: Record<string, string> } {
    const headers: Record<string, string> = { Authorization: `Bearer ${this.#key}`, ...more };
    if (call.method !== "GET") headers["Idempotency-Key"] = call.idempotencyKey ?? crypto.randomUUID();
    if (call.body === undefined) return { method: call.method, headers };
    headers["Content-Type"] = "application/json";
    return { method: call.method, headers, body: JSON.stringify(call.body) };
  }

  /** Return the response; undefined if the connection failed and the call may be sent again. */
  async #exchange(call: Call, request: RequestInit, last: boolean): Promise<Response | undefined> {
    try {
      const signal = AbortSignal.timeout(this.#timeoutMs);
      const response = await this.#fetch(this.url + call.path + queryString(call.params), { ...request, signal });
      const { ok, status } = response;
      return { ok, status, retryAfter: response.headers.get("Retry-After"), text: await response.text() };
    } catch (error) {
      if (!last) return undefined;
      throw this.#unreached(error);
    }
  }

  #unreached(error: unknown): Error {
    if (error instanceof DOMException && error.name === "TimeoutError") {
      return new TimedOut(`${this.url} did not answer within ${this.#timeoutMs} ms: pass a longer timeoutMs`);
    }
    const advice = "start it with `make serve`, or set TM_URL";
    return new ConnectionFailed(`no service answers at ${this.url} (${reason(error)}): ${advice}`, { cause: error });
  }
}

interface ServerEvent {
  readonly name: string;
  readonly data: string;
}

interface Response {
  readonly ok: boolean;
  readonly status: number;
  readonly retryAfter: string | null;
  readonly text: string;
}

/**
 * Return the milliseconds to wait after attempt 1, 2, ...; undefined if the answer is final. A status of undefined
 * stands for a connection that failed. A 409 is sent again only if the service says when.
 */
export function waitBeforeRetry(
  attempt: number,
  status: number | undefined,
  retryAfter: string | null,
): number | undefined {
  const seconds = retryAfter === null ? Number.NaN : Number(retryAfter);
  const asked = Number.isFinite(seconds) ? seconds * 1000 : undefined;
  const daily = status === 429 && (asked ?? 0) > LONGEST_LIMIT_MS;
  const passes = status === undefined || (TRANSIENT.has(status) && !daily) || (status === 409 && asked !== undefined);
  if (!passes) return undefined;
  const backoff = FIRST_WAIT_MS * 2 ** (attempt - 1) * (0.5 + Math.random() / 2);
  return Math.min(LONGEST_WAIT_MS, Math.max(backoff, asked ?? 0));
}

export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function queryString(params: Params | undefined): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params ?? {})) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined) query.append(name, String(one));
    }
  }
  return query.size === 0 ? "" : `?${query}`;
}

function environment(name: string): string | undefined {
  const value = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env?.[name];
  return value === "" ? undefined : value;
}

function reason(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error ? cause.message || cause.name : String(cause);
}
