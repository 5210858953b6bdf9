// The verbs.
import { TimedOut, errorOf } from "./errors.ts";
import { Transport, sleep } from "./transport.ts";
import type { Call, ClientOptions, Identity, Params } from "./transport.ts";
import type * as types from "./types.ts";

/** A memory, or its id. */
export type MemoryId = string | { readonly id: string };

/** For writes: the same key sent twice is one write. By default each call has its own. */
export interface WriteControl {
  idempotencyKey?: string;
}

/** Options of `remember` that are not fields of the API. */
export interface RememberControl extends WriteControl {
  /** Return when the memories are made (the default), or at once with a `job_id`. */
  wait?: boolean;
  /** Store nothing; return what would be decided. */
  dryRun?: boolean;
}

const ENDED: ReadonlySet<string> = new Set(["succeeded", "failed", "cancelled"]);
const TURN_FIELDS: ReadonlySet<string> = new Set<keyof types.Message>([
  "role", "content", "speaker", "occurred_at", "session_id", "sequence_number", "category", "importance", "metadata",
]);
const POLL_MS = 200;

/** A memory service, seen through one API key. */
export class TypedMemory {
  readonly #transport: Transport;
  readonly #identity: Identity;

  constructor(options: ClientOptions & Identity = {}, transport: Transport = new Transport(options)) {
    this.#transport = transport;
    this.#identity = identity(options);
  }

  /**
   * Return the same client for a user: what it writes is that user's, what it finds is what that user may see. An agent
   * that this client names is kept, unless another is given. Without a user it throws a TypeError: what names nobody
   * is seen by everybody of the tenant.
   */
  forUser(user_id: string, agent_id?: string): TypedMemory {
    if (!user_id) throw new TypeError('for whom? name the user: memory.forUser("ana")');
    return new TypedMemory({ ...this.#identity, ...identity({ user_id, agent_id }) }, this.#transport);
  }

  /**
   * Ingest what was said: a text, or messages as `{ role, content }`. It is stored when this resolves. Messages may also
   * be those of OpenAI's, Anthropic's, LangChain's or Vercel's libraries, with content in parts; system prompts and
   * messages without text are left out, and listed in `ignored`.
   */
  async remember(
    what: string | types.Message | types.ChatMessage | readonly types.Message[] | readonly types.ChatMessage[],
    options: types.RememberOptions & RememberControl = {},
  ): Promise<types.TurnsResult> {
    if (what === undefined || what === null) throw new TypeError(`what was said? give a text or messages, not ${what}`);
    const { wait, dryRun, idempotencyKey, ...fields } = options;
    const messages = typeof what === "string" || isList(what) ? what : [what];
    const said = typeof messages === "string" ? { content: messages } : { [listOf(messages)]: messages };
    return this.#send({
      method: "POST",
      path: "/turns",
      params: { mode: wait === false ? "async" : "sync", dry_run: dryRun },
      body: { ...this.#identity, ...fields, ...said },
      idempotencyKey,
    });
  }

  /** Ask a question, or what the last messages of a conversation ask; `context.text` goes into a prompt. */
  recall(query: string | readonly types.ChatMessage[], options: types.RecallOptions = {}): Promise<types.QueryResult> {
    const asked = typeof query === "string" ? { query } : { messages: query };
    return this.#send({ method: "POST", path: "/query", body: { ...this.#identity, ...options, ...asked } });
  }

  /**
   * Ask a question; `text` is the answer of the service's language model, `citations` what it rests on. Where the
   * memories do not answer it, `text` is null and `abstained` says why.
   */
  answer(query: string, options: types.AnswerOptions = {}): Promise<types.Answer> {
    return this.#send({ method: "POST", path: "/answer", body: { ...this.#identity, ...options, query } });
  }

  /** Yield the words of an answer as the language model writes them, and the whole answer last. */
  async *streamAnswer(query: string, options: types.AnswerOptions = {}): AsyncGenerator<string | types.Answer, void> {
    const body = { ...this.#identity, ...options, query };
    for await (const { name, data } of this.#transport.events({ method: "POST", path: "/answer", body })) {
      const part = JSON.parse(data);
      if (name === "delta") yield part.text as string;
      if (name === "answer") yield part as types.Answer;
      if (name === "problem") throw errorOf(part.status, data);
    }
  }

  /**
   * Return what holds of the user whatever is asked; `text` goes into the head of every prompt. It takes a client that
   * names a user (`forUser`).
   */
  async profile(options: { token_budget?: number } = {}): Promise<types.Profile> {
    const { user_id, agent_id } = this.#identity;
    if (user_id === undefined) throw new TypeError("whose profile? name the user: memory.forUser(...).profile()");
    return this.#get(`/users/${segment(user_id, "user")}/profile`, { agent_id, ...options });
  }

  /** Store one memory of a type; the answer says what was decided, and why. */
  write<Type extends keyof types.Writes>(
    type: Type,
    fields: types.Writes[Type],
    control: WriteControl = {},
  ): Promise<types.WriteResult> {
    return this.#write(type, fields, control);
  }

  /** Store one memory of a type that your tenant defined; its fields go into `payload`. */
  async writeTenantType(
    type: string,
    fields: types.TenantTypeWrite,
    control: WriteControl = {},
  ): Promise<types.WriteResult> {
    return this.#write(type, fields, control);
  }

  /** Store up to a thousand typed memories, each with its `type`; each has its own result. */
  writeBatch(items: readonly types.BatchItem[], control: WriteControl = {}): Promise<types.BatchResult> {
    const memories = items.map((one) => ({ ...this.#identity, ...one }));
    return this.#send({ method: "POST", path: "/memories/batch", body: { memories }, ...control });
  }

  /**
   * Erase a memory for good; `kept` of the receipt lists what else rests on the same turn, and may say the same.
   * `turns` of the receipt are those that still hold its words; `with_turns` erases them, too.
   */
  async forget(memory: MemoryId, control: WriteControl & { with_turns?: boolean } = {}): Promise<types.Receipt> {
    const { with_turns, ...rest } = control;
    const params = with_turns === true ? { with_turns } : {};
    return this.#send({ method: "DELETE", path: memoryPath(memory), params, ...rest });
  }

  /** Erase everything of a user for good. It takes a key with the role `admin`. */
  async forgetUser(user_id: string): Promise<types.Receipt> {
    return this.#send({ method: "DELETE", path: `/users/${segment(user_id, "user")}`, params: { mode: "sync" } });
  }

  /** Yield memories, history too (`status: ["active"]`: without it); `limit` is the size of a page. */
  memories(options: types.ListMemoriesOptions = {}): AsyncGenerator<types.Memory, void> {
    return this.#list("/memories", "memories", options);
  }

  /** Yield a session's episodes in sequence. */
  session(session_id: string, options: types.ListSessionOptions = {}): AsyncGenerator<types.Memory, void> {
    const path = `/memories/typed/episodic/session/${segment(session_id, "session")}`;
    return this.#list(path, "memories", options);
  }

  async memory(id: string, options: types.GetMemoryOptions = {}): Promise<types.Memory> {
    return this.#get(memoryPath(id), options);
  }

  /** Return every version of a memory, and what happened to them. */
  async history(memory: MemoryId): Promise<types.History> {
    return this.#get(`${memoryPath(memory)}/history`);
  }

  /** Change importance, topic, category, metadata or end of validity. What a memory says is changed by writing. */
  async update(memory: MemoryId, changes: types.UpdateOptions): Promise<types.Memory> {
    return this.#send({ method: "PATCH", path: memoryPath(memory), body: changes });
  }

  /** Say that a memory was useful, not useful, or wrong (then it waits for review, and is not recalled). */
  async feedback(
    memory: MemoryId,
    feedback: types.FeedbackKind,
    options: types.FeedbackOptions = {},
  ): Promise<types.FeedbackResult> {
    return this.#send({ method: "POST", path: `${memoryPath(memory)}/feedback`, body: { ...options, feedback } });
  }

  /** Put a memory on the list of what a person should look at; until then it is recalled as before. */
  async askForReview(memory: MemoryId): Promise<types.Memory> {
    return this.update(memory, { needs_review: true });
  }

  /** Yield what waits for a reviewer. It takes a key with the role `review`, as deciding does. */
  reviews(options: types.ListReviewsOptions = {}): AsyncGenerator<types.ReviewItem, void> {
    return this.#list("/admin/review", "items", options);
  }

  /** Return a review item with its evidence, near duplicates, and what accepting it would change. */
  async review(id: string): Promise<types.ReviewDetail> {
    return this.#get(`/admin/review/${segment(id, "review item")}`);
  }

  reviewSummary(): Promise<types.ReviewSummary> {
    return this.#get("/admin/review/summary");
  }

  /**
   * Decide a review item; ReviewConflict if it has changed since it was read. `instead` is the memory to `merge`
   * with, or the memory or statement to `supersede_with`; `since` is when what `end` ends stopped being true.
   */
  async decide(
    item: types.ReviewItem,
    action: types.ReviewAction,
    options: { instead?: MemoryId | types.ReviewerStatement; since?: string; reason?: string; reviewer?: string } = {},
  ): Promise<types.ReviewOutcome> {
    const { instead, ...told } = options;
    const other = typeof instead === "object" && "id" in instead ? instead.id : instead;
    return this.#send({
      method: "POST",
      path: `/admin/review/${segment(item.id, "review item")}`,
      body: { action, version: item.version, with: other, ...told },
    });
  }

  /** Undo the latest decision on a review item; Conflict says why it can't be undone. */
  async undo(reviewId: string, options: { reason?: string; reviewer?: string } = {}): Promise<types.ReviewUndone> {
    return this.#send({
      method: "POST",
      path: `/admin/review/${segment(reviewId, "review item")}/undo`,
      body: options,
    });
  }

  /** Yield turns, newest first. */
  turns(options: types.ListTurnsOptions = {}): AsyncGenerator<types.Turn, void> {
    return this.#list("/turns", "turns", options);
  }

  /** Return a turn with what each stage of the pipeline did with it. */
  async turn(id: string): Promise<types.Turn> {
    return this.#get(`/turns/${segment(id, "turn")}`);
  }

  /** Yield background jobs, newest first. */
  jobs(options: types.ListJobsOptions = {}): AsyncGenerator<types.Job, void> {
    return this.#list("/jobs", "jobs", options);
  }

  async job(id: string): Promise<types.Job> {
    return this.#get(`/jobs/${segment(id, "job")}`);
  }

  /** Return a job when it has succeeded, failed or was cancelled; TimedOut after `timeoutMs`. */
  async waitFor(jobId: string, timeoutMs = 60_000): Promise<types.Job> {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      const job = await this.job(jobId);
      if (ENDED.has(job.status)) return job;
      if (Date.now() > deadline) throw new TimedOut(`${jobId} is still ${job.status} after ${timeoutMs} ms`);
      await sleep(POLL_MS);
    }
  }

  /** Yield entities: people, organisations, places and things by their names. */
  entities(options: types.ListEntitiesOptions = {}): AsyncGenerator<types.Entity, void> {
    return this.#list("/entities", "entities", options);
  }

  /** Return an entity, with the former values of its attributes. */
  async entity(id: string, options: types.GetEntityOptions = {}): Promise<types.EntityDetail> {
    return this.#get(`/entities/${segment(id, "entity")}`, options);
  }

  /** Return the relations around an entity, up to three steps. */
  async graph(id: string, depth = 1): Promise<types.Graph> {
    return this.#get(`/entities/${segment(id, "entity")}/graph`, { depth });
  }

  /** Yield users with counts and last activity: with `all: true` everybody (role `admin`). */
  users(options: types.ListUsersOptions = {}): AsyncGenerator<types.User, void> {
    return this.#list("/users", "users", options);
  }

  /** Yield agents with counts and last activity: with `all: true` all of them (role `admin`). */
  agents(options: types.ListAgentsOptions = {}): AsyncGenerator<types.Agent, void> {
    return this.#list("/agents", "agents", options);
  }

  /** Yield conversations with counts and times; with `owner` those of a user with every agent. */
  sessions(options: types.ListSessionsOptions = {}): AsyncGenerator<types.Session, void> {
    return this.#list("/sessions", "sessions", options);
  }

  /** Return the tenant and the roles of the API key. */
  whoAmI(): Promise<types.WhoAmI> {
    return this.#get("/whoami");
  }

  ready(): Promise<types.Ready> {
    return this.#get("/readyz");
  }

  /** Send any request, for routes without a method here. */
  request(method: string, path: string, options: { params?: Params; body?: unknown } = {}): Promise<unknown> {
    return this.#send({ method: method.toUpperCase(), path, ...options });
  }

  async #write(type: string, fields: object, control: WriteControl): Promise<types.WriteResult> {
    const path = `/memories/typed/${segment(type, "type")}`;
    return this.#send({ method: "POST", path, body: { ...this.#identity, ...fields }, ...control });
  }

  #get<Answer>(path: string, params: Params = {}): Promise<Answer> {
    return this.#send({ method: "GET", path, params });
  }

  #send<Answer>(call: Call): Promise<Answer> {
    return this.#transport.send<Answer>(call);
  }

  /** Yield what a list has for this client's user and agent, unless `all` or `owner` names the scopes. */
  #list<Item>(path: string, field: string, options: Params): AsyncGenerator<Item, void> {
    const named = options["all"] === true || typeof options["owner"] === "string";
    return this.#items(path, field, named ? options : { ...this.#identity, ...options });
  }

  async *#items<Item>(path: string, field: string, params: Params): AsyncGenerator<Item, void> {
    let cursor: string | null = null;
    do {
      const page: Record<string, unknown> = await this.#get(path, { ...params, cursor });
      yield* page[field] as Item[];
      cursor = page["next_cursor"] as string | null;
    } while (cursor !== null);
  }
}

/** Return whether a value is a list; `Array.isArray` does not say so of a read-only one. */
function isList<Item>(value: Item | readonly Item[]): value is readonly Item[] {
  return Array.isArray(value);
}

/** Return the field of the body that takes these: `messages` if one has what a turn lacks, as content parts. */
function listOf(said: readonly object[]): "turns" | "messages" {
  const isTurn = (one: object) =>
    Object.keys(one).every((name) => TURN_FIELDS.has(name)) &&
    "content" in one && typeof one.content === "string" && !("role" in one && one.role === "system");
  return said.every(isTurn) ? "turns" : "messages";
}

function memoryPath(memory: MemoryId): string {
  return `/memories/${segment(typeof memory === "object" ? memory?.id : memory, "memory")}`;
}

/** Return an id as a part of a path; throw a TypeError where it is missing, as plain JavaScript may leave it. */
function segment(id: string, what: string): string {
  if (typeof id !== "string" || id === "") {
    throw new TypeError(`which ${what}? give its ${what === "type" ? "name" : "id"}, not ${JSON.stringify(id)}`);
  }
  return encodeURIComponent(id);
}

function identity(given: { user_id?: string | undefined; agent_id?: string | undefined }): Identity {
  return {
    ...(given.user_id === undefined ? {} : { user_id: given.user_id }),
    ...(given.agent_id === undefined ? {} : { agent_id: given.agent_id }),
  };
}
