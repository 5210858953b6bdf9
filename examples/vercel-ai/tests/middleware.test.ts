// The middleware with the AI SDK's own functions, against a real service.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { test } from "node:test";
import { generateText, streamText, wrapLanguageModel } from "ai";
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

test("prompts of a chat have little that does not answer", async () => {
  const memory = new TypedMemory().forUser(`user-${randomUUID()}`);
  let lines: string[] = [];
  let reply = "";
  const standIn = new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const known = prompt.flatMap((one) => (one.role === "system" ? one.content.split("\n") : []));
      lines = known.filter((line) => line.startsWith("- "));
      return {
        content: [{ type: "text", text: reply }],
        finishReason: { unified: "stop", raw: undefined },
        usage: {
          inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 0, text: 0, reasoning: 0 },
        },
        warnings: [],
      };
    },
  });
  const model = wrapLanguageModel({ model: standIn, middleware: memoryMiddleware(memory) });
  const exchange = async (said: string, answer: string): Promise<string[]> => {
    reply = answer;
    await generateText({ model, prompt: said });
    for await (const job of memory.jobs()) await memory.waitFor(job.id);
    return lines;
  };

  await exchange("hi, I'm Noor and I live in Harstad", "Nice to meet you, Noor! Harstad must be beautiful.");
  await exchange("I'm allergic to eggs, they give me hives", "Noted, I'll leave out eggs.");
  await exchange("My brother Idris repairs boats.", "What a useful trade!");
  await exchange("we moved to Alta last week", "I hope you like it there.");
  const asked: [said: string, answer: string, need?: RegExp, may?: RegExp | undefined, stale?: RegExp][] = [
    ["Where do I live?", "You live in Alta.", /Alta/, undefined, /Harstad/],
    ["What does my brother do?", "He repairs boats.", /boats/, /Idris/],
    ["Suggest a cake for Sunday.", "How about a vegan lemon cake?", /eggs/],
    ["What is 12 times 12?", "144."],
    ["Thanks, bye!", "Bye, Noor!"],
  ];
  const faults: string[] = [];
  const noise: string[] = [];
  for (const [said, answer, need, may, stale] of asked) {
    const block = await exchange(said, answer);
    if (need !== undefined && !block.some((line) => need.test(line))) faults.push(`missing: ${said}`);
    const unmarked = block.filter((line) => stale?.test(line) && !/replaced|no longer|until/.test(line));
    faults.push(...unmarked.map((line) => `replaced, but unmarked: ${line}`));
    noise.push(...block.filter((line) => !need?.test(line) && !may?.test(line)).map((line) => `${said} ${line}`));
  }
  assert.deepEqual(faults, [], `answers nothing:\n${noise.join("\n")}`);
  assert.ok(noise.length <= 0.3 * asked.length, noise.join("\n"));
});
