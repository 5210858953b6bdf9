// Retries, idempotency keys and errors, with a fetch that fails on purpose.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ConnectionFailed, TimedOut, TypedMemory, Unauthorized, Unavailable } from "../src/index.ts";
import { waitBeforeRetry } from "../src/transport.ts";
import { all, newUser } from "./support.ts";

test("a write whose answer was lost is done once", async () => {
  const keys: (string | null)[] = [];
  const loses: typeof fetch = async (input, init) => {
    keys.push(new Headers(init?.headers).get("Idempotency-Key"));
    const response = await fetch(input, init);
    if (keys.length > 2) return response;
    await response.arrayBuffer();
    throw new TypeError("connection lost");
  };
  const memory = new TypedMemory({ user_id: newUser(), fetch: loses });
  const written = await memory.write("event", { event_description: "Ana played her first concert" });
  assert.equal(written.decision, "added");
  assert.equal(new Set(keys).size, 1);
  assert.equal((await all(memory.memories())).length, 1);
});

test("the caller's own idempotency key counts", async () => {
  const memory = new TypedMemory({ user_id: newUser() });
  const swim = () => memory.write("event", { event_description: "A swim" }, { idempotencyKey: newKey });
  const newKey = newUser();
  assert.deepEqual(await swim(), await swim());
});

test("nobody there says how to start the service", async () => {
  const memory = new TypedMemory({ url: "http://127.0.0.1:9", apiKey: "tm_x", attempts: 1 });
  await assert.rejects(
    memory.recall("x"),
    (error) => error instanceof ConnectionFailed && error.message.includes("make serve"),
  );
});

test("an address without a scheme is refused at once, a path is not", () => {
  assert.throws(() => new TypedMemory({ url: "127.0.0.1:8700", apiKey: "tm_x" }), /write http:\/\/127/);
  assert.ok(new TypedMemory({ url: "/memory", apiKey: "tm_x" }));
});

test("a missing id is named, and nothing is sent", async () => {
  const unsent: typeof fetch = () => assert.fail("it was sent");
  const memory = new TypedMemory({ url: "http://127.0.0.1:9", apiKey: "tm_x", fetch: unsent });
  // As plain JavaScript may call it.
  const missing = undefined as unknown as string;
  const rejected: [Promise<unknown>, RegExp][] = [
    [memory.remember(missing), /what was said\?/],
    [memory.forget(missing), /which memory\? give its id, not undefined/],
    [memory.update("", {}), /which memory\? give its id, not ""/],
    [memory.forgetUser(missing), /which user/],
    [memory.turn(missing), /which turn/],
    [memory.waitFor(missing), /which job/],
    [memory.entity(missing), /which entity/],
    [memory.review(missing), /which review item/],
    [memory.writeTenantType(missing, { payload: {} }), /which type\? give its name/],
  ];
  for (const [call, message] of rejected) await assert.rejects(call, { name: "TypeError", message });
  assert.throws(() => memory.session(missing), /which session/);
  assert.throws(() => memory.forUser(missing), /for whom\?/);
});

test("no answer in time says so", async () => {
  const never: typeof fetch = (_input, init) =>
    new Promise((_resolve, reject) => {
      // Node does not stay alive for the timer of AbortSignal.timeout alone.
      const alive = setInterval(() => undefined, 1000);
      init?.signal?.addEventListener("abort", () => {
        clearInterval(alive);
        reject(init.signal?.reason as Error);
      });
    });
  const memory = new TypedMemory({ url: "http://test", apiKey: "tm_x", attempts: 1, timeoutMs: 20, fetch: never });
  await assert.rejects(memory.recall("x"), TimedOut);
});

test("the global fetch is called as a browser allows it", async () => {
  const whole = globalThis.fetch;
  globalThis.fetch = function (this: unknown) {
    if (this !== undefined && this !== globalThis) return Promise.reject(new TypeError("Illegal invocation"));
    return Promise.resolve(new Response('{"memories": [], "context": {"text": ""}}'));
  };
  try {
    const found = await new TypedMemory({ url: "http://test", apiKey: "tm_x", attempts: 1 }).recall("x");
    assert.deepEqual(found.memories, []);
  } finally {
    globalThis.fetch = whole;
  }
});

test("a wrong key says where to get one", async () => {
  await assert.rejects(
    new TypedMemory({ apiKey: "tm_wrong" }).recall("x"),
    (error) => error instanceof Unauthorized && error.message.includes("TM_API_KEY"),
  );
});

test("only what passes is tried again", () => {
  const again = (status: number | undefined, retryAfter: string | null = null) =>
    waitBeforeRetry(1, status, retryAfter) !== undefined;
  assert.deepEqual([again(undefined), again(503), again(429, "2"), again(409, "1")], [true, true, true, true]);
  assert.deepEqual([again(409), again(422), again(500), again(429, "3600")], [false, false, false, false]);
  assert.ok((waitBeforeRetry(1, 429, "2") ?? 0) >= 2000);
});

const STREAM =
  'event: recalled\ndata: {"memories": []}\n\n' +
  'event: delta\ndata: {"text": "In "}\n\nevent: delta\ndata: {"text": "Porto."}\n\n';
const WHOLE = 'event: answer\ndata: {"text": "In Porto.", "citations": [], "abstained": null, "model": "openai:x"}\n\n';
const PROBLEM =
  'event: problem\ndata: {"type": "urn:x", "title": "Unavailable", "status": 503, "detail": "the model is away", ' +
  '"instance": "/answer", "request_id": "r1"}\n\n';

function answering(stream: string): TypedMemory {
  return new TypedMemory({ url: "http://test", apiKey: "tm_x", fetch: async () => new Response(stream) });
}

test("a streamed answer comes in words and then whole", async () => {
  const parts = await all(answering(STREAM + WHOLE).streamAnswer("Where do I live?"));
  assert.deepEqual(parts.slice(0, 2), ["In ", "Porto."]);
  const whole = parts.at(-1);
  assert.ok(typeof whole === "object" && whole.text === "In Porto.");
});

test("a stream that fails rejects with its problem", async () => {
  await assert.rejects(
    all(answering(STREAM + PROBLEM).streamAnswer("Where do I live?")),
    (error) => error instanceof Unavailable && error.message.includes("the model is away"),
  );
});

test("a profile names its user", async () => {
  await assert.rejects(new TypedMemory({ apiKey: "tm_x" }).profile(), /forUser/);
});
