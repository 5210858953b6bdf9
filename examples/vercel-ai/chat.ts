// Two conversations of one user, with a stand-in for a model that repeats what it is given: `node chat.ts`.
// Replace it with `openai("gpt-5-mini")` of @ai-sdk/openai, or any other model.
import { generateText } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { TypedMemory } from "typed-memory-client";
import { remember } from "typed-memory-vercel-ai";

const standIn = new MockLanguageModelV4({
  doGenerate: async ({ prompt }) => {
    const system = prompt.flatMap((one) => (one.role === "system" ? [one.content] : []));
    return {
      content: [{ type: "text", text: system.join("\n") || "Noted." }],
      finishReason: { unified: "stop", raw: undefined },
      usage: {
        inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 0, text: 0, reasoning: 0 },
      },
      warnings: [],
    };
  },
});

const memory = new TypedMemory().forUser(process.argv[2] ?? "ana");
const model = remember(standIn, { memory });

for (const prompt of ["I live in Porto and I work as a nurse.", "Where do I live?"]) {
  const { text } = await generateText({ model, prompt });
  console.log(text);
  for await (const job of memory.jobs()) await memory.waitFor(job.id);
}
