// The AI SDK's own functions with a memory, against a real service.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { generateText, streamText, wrapLanguageModel } from "ai";
import { MockLanguageModelV4, convertArrayToReadableStream } from "ai/test";
import { TypedMemory } from "typed-memory-client";
import { memoryMiddleware, remember } from "../src/index.ts";

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

const nothing = {
  inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 },
};

/** A model that says the words one by one, and keeps the system messages it was given. */
function speaking(words: string[], seen: string[] = [], fails = false): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    doStream: async ({ prompt }) => {
      seen.push(prompt.flatMap((one) => (one.role === "system" ? [one.content] : [])).join("\n"));
      const parts = [
        { type: "stream-start" as const, warnings: [] },
        { type: "text-start" as const, id: "1" },
        ...words.map((delta) => ({ type: "text-delta" as const, id: "1", delta })),
      ];
      const end = [
        { type: "text-end" as const, id: "1" },
        { type: "finish" as const, finishReason: { unified: "stop" as const, raw: undefined }, usage: nothing },
      ];
      let next = 0;
      const stream = new ReadableStream<(typeof parts)[number] | (typeof end)[number]>({
        pull(controller) {
          const part = (fails ? parts : [...parts, ...end])[next++];
          if (part !== undefined) return controller.enqueue(part);
          return fails ? controller.error(new Error("the line broke")) : controller.close();
        },
      }, { highWaterMark: 0 });
      return { stream };
    },
  });
}

async function said(memory: TypedMemory): Promise<string[]> {
  const turns: string[] = [];
  for await (const turn of memory.turns()) turns.push(`${turn.role}: ${turn.content}`);
  return turns.sort();
}

test("one line gives a model a memory", async () => {
  const user_id = `user-${randomUUID()}`;
  const memory = new TypedMemory().forUser(user_id);
  await memory.remember("I live in Porto.");
  const seen: string[] = [];
  const model = remember(speaking(["In ", "Porto."], seen), { user_id });
  assert.equal(await streamText({ model, system: "Be brief.", prompt: "Where do I live?" }).text, "In Porto.");
  assert.match(seen[0]!, /^Be brief\.\nWhat is known[^]*user lives in Porto/);
  assert.deepEqual(await said(memory), ["assistant: In Porto.", "user: I live in Porto.", "user: Where do I live?"]);
  await streamText({ model, prompt: "What is 12 times 12?" }).text;
  assert.equal(seen[1], "");
});

test("a stream that is cancelled is remembered as far as it was read", async () => {
  const memory = new TypedMemory().forUser(`user-${randomUUID()}`);
  const model = remember(speaking(["You ", "live ", "in ", "Porto."]), { memory });
  const { stream } = await model.doStream({ prompt: [{ role: "user", content: [{ type: "text", text: "Where?" }] }] });
  const reader = stream.getReader();
  for (let part = await reader.read(); part.value?.type !== "text-delta"; part = await reader.read());
  await reader.cancel();
  const [answer, question] = await said(memory);
  assert.equal(question, "user: Where?");
  assert.match(answer!, /^assistant: You( live)?\s*$/);
});

test("a stream that breaks off fails as before, and is remembered", async () => {
  const memory = new TypedMemory().forUser(`user-${randomUUID()}`);
  const model = remember(speaking(["You ", "live "], [], true), { memory });
  const { stream } = await model.doStream({ prompt: [{ role: "user", content: [{ type: "text", text: "Where?" }] }] });
  await assert.rejects(async () => { for await (const _ of stream); }, /the line broke/);
  assert.deepEqual((await said(memory)).map((one) => one.trim()), ["assistant: You live", "user: Where?"]);
});

test("the steps after a tool call have the memory, and the question is remembered once", async () => {
  const memory = new TypedMemory().forUser(`user-${randomUUID()}`);
  await memory.remember("I live in Porto.");
  const seen: string[] = [];
  const model = remember(speaking(["In Porto."], seen), { memory });
  const output = { type: "text" as const, value: "12:00" };
  const { stream } = await model.doStream({
    prompt: [
      { role: "user", content: [{ type: "text", text: "Where do I live?" }] },
      { role: "assistant", content: [{ type: "tool-call", toolCallId: "1", toolName: "clock", input: {} }] },
      { role: "tool", content: [{ type: "tool-result", toolCallId: "1", toolName: "clock", output }] },
    ],
  });
  for await (const _ of stream);
  assert.match(seen[0]!, /user lives in Porto/);
  assert.deepEqual(await said(memory), ["assistant: In Porto.", "user: I live in Porto."]);
});

test("the chat goes on without its memory", async (context) => {
  const warnings = context.mock.method(console, "warn", () => {});
  const memory = new TypedMemory({ url: "http://127.0.0.1:9", apiKey: "tm_none", attempts: 1 }).forUser("ana");
  const model = remember(speaking(["Hello."]), { memory });
  assert.equal(await streamText({ model, prompt: "Hi" }).text, "Hello.");
  assert.equal(warnings.mock.callCount(), 2);
});
