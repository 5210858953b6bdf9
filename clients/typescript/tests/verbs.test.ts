// Every verb, against a real service.
import assert from "node:assert/strict";
import { test } from "node:test";
import { InvalidInput, NotFound, ReviewConflict, TypedMemory } from "../src/index.ts";
import type { Memory, ReviewItem } from "../src/index.ts";
import { all, newMemory, newUser } from "./support.ts";

async function factOf(memory: TypedMemory): Promise<Memory> {
  const written = await memory.write("fact", { subject: "user", predicate: "works-at", object: "Otto" });
  assert.ok(written.memory);
  return written.memory;
}

async function firstReview(memory: TypedMemory): Promise<ReviewItem> {
  const [item] = await all(memory.reviews());
  assert.ok(item);
  return item;
}

test("what was said is recalled", async () => {
  const memory = newMemory();
  const stored = await memory.remember("I live in Porto and I work as a nurse.");
  assert.deepEqual(stored.turns.map((one) => one.status), ["processed"]);
  const found = await memory.recall("Where does the user live?");
  assert.match(found.context.text, /user lives in Porto/);
});

test("messages are remembered by a job that can be awaited", async () => {
  const memory = newMemory();
  const messages = [
    { role: "user", content: "I play the cello.", occurred_at: "2026-05-04T09:00:00Z" },
    { role: "assistant", content: "How lovely!" },
  ] as const;
  const stored = await memory.remember(messages, { session_id: "monday", wait: false });
  assert.ok(stored.job_id);
  assert.equal((await memory.waitFor(stored.job_id)).status, "succeeded");
  const turns = await all(memory.turns());
  assert.deepEqual(new Set(turns.map((one) => one.role)), new Set(["user", "assistant"]));
  assert.ok(turns[0]?.id);
  assert.equal((await memory.turn(turns[0].id)).session_id, "monday");
});

test("messages of chat libraries are remembered", async () => {
  const stored = await newMemory().remember([
    { role: "system", content: "You are helpful." },
    { role: "user", content: [{ type: "text", text: "I live in Porto." }], name: "Ana" },
  ]);
  assert.deepEqual(stored.turns.map((one) => one.status), ["processed"]);
  assert.deepEqual(stored.ignored.map((one) => one.place), [0]);
});

test("a dry run stores nothing", async () => {
  const memory = newMemory();
  const stored = await memory.remember("I live in Porto.", { dryRun: true });
  assert.equal(stored.turns[0]?.id, null);
  assert.deepEqual(await all(memory.memories()), []);
});

test("a second value replaces the first, and the union narrows by type", async () => {
  const memory = newMemory();
  await memory.write("preference", { preference_key: "editor.theme", preference_value: "dark" });
  const second = await memory.write("preference", { preference_key: "editor.theme", preference_value: "light" });
  assert.equal(second.decision, "superseded");
  assert.ok(second.memory?.type === "preference");
  assert.equal(second.memory.preference_value, "light");
  const { versions } = await memory.history(second.memory);
  assert.deepEqual(versions.map((one) => one.status), ["superseded", "active"]);
});

test("a batch has a result for each item", async () => {
  const batch = await newMemory().writeBatch([
    { type: "fact", subject: "Ana", predicate: "plays", object: "the cello" },
    { type: "preference", preference_key: "editor.theme", preference_value: "dark" },
  ]);
  assert.deepEqual(batch.results.map((one) => one.decision), ["added", "added"]);
});

test("lists go on over pages", async () => {
  const memory = newMemory();
  for (let number = 0; number < 5; number += 1) {
    await memory.write("event", { event_description: `concert number ${number}`, event_at: "2026-06-12" });
  }
  const listed = await all(memory.memories({ type: ["event"], status: ["active"], limit: 2 }));
  assert.equal(new Set(listed.map((one) => one.id)).size, 5);
});

test("a session is listed in sequence", async () => {
  const memory = newMemory();
  const said = ["Good morning, doctor.", "My knee hurts badly."];
  for (const [sequence_number, content] of said.entries()) {
    await memory.write("episodic", { content, session_id: "s-1", sequence_number });
  }
  assert.deepEqual((await all(memory.session("s-1"))).map((one) => one.content), said);
});

test("what is forgotten is gone", async () => {
  const memory = newMemory();
  const fact = await factOf(memory);
  assert.equal((await memory.forget(fact)).status, "finished");
  await assert.rejects(memory.memory(fact.id), NotFound);
});

test("a user is forgotten", async () => {
  const user = newUser();
  const memory = newMemory(user);
  await memory.remember("I live in Porto.");
  assert.equal((await memory.forgetUser(user)).status, "finished");
  assert.deepEqual(await all(memory.memories()), []);
});

test("a memory is reviewed on request, and a decision about an item that moved has its new state", async () => {
  const memory = newMemory();
  assert.equal((await memory.askForReview(await factOf(memory))).needs_review, true);
  const item = await firstReview(memory);
  assert.equal((await memory.review(item.id)).open, true);
  assert.equal((await memory.decide(item, "accept", { reason: "seen the contract" })).action, "accept");
  await assert.rejects(
    memory.decide(item, "reject"),
    (error) => error instanceof ReviewConflict && error.current.decided !== null,
  );
});

test("feedback and changes are kept", async () => {
  const memory = newMemory();
  const fact = await factOf(memory);
  assert.equal((await memory.feedback(fact, "useful", { session_id: "s" })).feedback, "useful");
  assert.equal((await memory.update(fact, { importance: 0.9, topic: "work" })).topic, "work");
});

test("entities have names and relations", async () => {
  const memory = newMemory();
  await memory.write("relation", { from_entity: "Sarah", relation_type: "reports-to", to_entity: "Priya" });
  const sarah = (await all(memory.entities())).find((one) => one.canonical_name === "Sarah");
  assert.ok(sarah);
  assert.equal((await memory.entity(sarah.id)).id, sarah.id);
  assert.equal((await memory.graph(sarah.id)).relations.length, 1);
});

test("what belongs to a user is not recalled for another", async () => {
  const memory = newMemory();
  await memory.remember("I live in Porto.");
  const found = await memory.forUser(newUser()).recall("Where does the user live?");
  assert.doesNotMatch(found.context.text, /Porto/);
});

test("a client of an agent stays so for each user", async () => {
  const desk = new TypedMemory({ agent_id: "desk" }).forUser(newUser());
  const stored = await desk.write("event", { event_description: "The train left", scope: "agent" });
  assert.equal(stored.memory?.agent_id, "desk");
});

test("wrong fields are named", async () => {
  const write = newMemory().write("fact", { subject: "user", predicate: "likes", object: "tea", importance: 7 });
  await assert.rejects(
    write,
    (error) => error instanceof InvalidInput && error.fieldErrors[0]?.field === "importance" && !!error.requestId,
  );
});

test("a single message is remembered", async () => {
  const stored = await newMemory().remember({ role: "user", content: "I live in Porto." });
  assert.deepEqual(stored.turns.map((one) => one.status), ["processed"]);
});

test("users and sessions are listed", async () => {
  const user = newUser();
  const memory = newMemory(user);
  await memory.remember("I live in Porto.", { session_id: "monday" });
  assert.deepEqual((await all(memory.users({ q: user, all: true }))).map((one) => one.user_id), [user]);
  assert.deepEqual((await all(memory.sessions({ owner: user }))).map((one) => one.session_id), ["monday"]);
  assert.deepEqual((await all(memory.sessions())).map((one) => one.session_id), ["monday"]);
  assert.deepEqual((await all(memory.users())).map((one) => one.user_id), [user]);
  assert.ok((await all(memory.agents())).every((one) => one.agent_id !== user));
  assert.ok((await memory.whoAmI()).roles.includes("admin"));
});

test("routes without a method can be requested", async () => {
  const memory = newMemory();
  assert.equal((await memory.ready()).ready, true);
  assert.ok((await memory.request("get", "/admin/types")) instanceof Object);
});

test("a profile is what holds of a user", async () => {
  const memory = newMemory();
  await memory.remember("I live in Porto and I am allergic to peanuts.");
  const profile = await memory.profile({ token_budget: 100 });
  assert.match(profile.text, /peanuts/);
  assert.ok(profile.tokens <= 100);
});
