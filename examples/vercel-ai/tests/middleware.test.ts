// The middleware with the AI SDK's own functions, against a real service.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { test } from "node:test";
import { streamText, wrapLanguageModel } from "ai";
import { MockLanguageModelV4, convertArrayToReadableStream } from "ai/test";
import { TypedMemory } from "typed-memory-client";
import { memoryMiddleware } from "../memory-middleware.ts";

test("the next conversation knows what was said", () => {
  const user = `user-${randomUUID()}`;
  const printed = execFileSync("node", [join(import.meta.dirname, "..", "chat.ts"), user], { encoding: "utf8" });
  const [first, ...second] = printed.split("\n");
  assert.equal(first, "Noted.");
  assert.match(second.join("\n"), /user lives in Porto/);
});

test("a streamed answer is remembered with its question", async () => {
  const memory = new TypedMemory().forUser(`user-${randomUUID()}`);
  const usage = {
    inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 0, text: 0, reasoning: 0 },
  };
  const standIn = new MockLanguageModelV4({
    doStream: async () => ({
      stream: convertArrayToReadableStream([
        { type: "stream-start" as const, warnings: [] },
        { type: "text-start" as const, id: "1" },
        { type: "text-delta" as const, id: "1", delta: "How " },
        { type: "text-delta" as const, id: "1", delta: "lovely!" },
        { type: "text-end" as const, id: "1" },
        { type: "finish" as const, finishReason: { unified: "stop" as const, raw: undefined }, usage },
      ]),
    }),
  });
  const model = wrapLanguageModel({ model: standIn, middleware: memoryMiddleware(memory, { session_id: "monday" }) });
  assert.equal(await streamText({ model, prompt: "I play the cello." }).text, "How lovely!");
  const turns: string[] = [];
  for await (const turn of memory.turns()) turns.push(`${turn.role}: ${turn.content} (${turn.session_id})`);
  assert.deepEqual(turns.sort(), ["assistant: How lovely! (monday)", "user: I play the cello. (monday)"]);
});
