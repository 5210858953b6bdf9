// The program, against a real service.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { test } from "node:test";

test("the next conversation knows what was said", () => {
  const user = `user-${randomUUID()}`;
  const printed = execFileSync("node", [join(import.meta.dirname, "..", "chat.ts"), user], { encoding: "utf8" });
  const [first, ...second] = printed.split("\n");
  assert.equal(first, "Noted.");
  assert.match(second.join("\n"), /user lives in Porto/);
});
