// The package as users get it: packed, installed into an empty project, compiled and run there.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

const root = join(import.meta.dirname, "..");
const project = mkdtempSync(join(tmpdir(), "typed-memory-pack-"));
after(() => rmSync(project, { recursive: true }));

// Types of a tenant's own are declared here, as a user would.
const PROGRAM = `
import { TypedMemory, type Memory } from "typed-memory-client";

declare module "typed-memory-client" {
  interface OwnTypes { ticket: { number: number } }
}

function describe(memory: Memory): string {
  switch (memory.type) {
    case "preference": return memory.preference_key + " = " + memory.preference_value;
    case "fact": return memory.predicate;
    case "ticket": return "ticket " + memory.payload.number.toFixed();
    default: return memory.content;
  }
}

const memory = new TypedMemory({ user_id: "packed" });
const written = await memory.write("preference", { preference_key: "editor.theme", preference_value: "dark" });
if (written.memory) console.log(describe(written.memory));
// @ts-expect-error a required field is missing
void (() => memory.write("preference", { preference_key: "editor.theme" }));
// @ts-expect-error there is no such type
void (() => memory.write("preferense", {}));
`;

function run(command: string, ...args: string[]): string {
  return execFileSync(command, args, { cwd: project, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}

test("the packed package compiles and runs in another project", () => {
  const pack = JSON.parse(
    execFileSync("npm", ["pack", "--json", "--pack-destination", project], {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }),
  ) as [{ filename: string; files: { path: string }[] }];
  assert.ok(pack[0].files.every(({ path }) => path.startsWith("dist/") || !path.includes("/")));
  writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module", private: true }));
  run("npm", "install", "--offline", "--no-audit", "--silent", join(project, pack[0].filename));
  writeFileSync(join(project, "main.ts"), PROGRAM);
  const options = ["--module", "nodenext", "--target", "es2022", "--strict", "--typeRoots", join(root, "node_modules/@types")];
  run(join(root, "node_modules/.bin/tsc"), ...options, "--types", "node", "main.ts");
  assert.equal(run("node", "main.js").trim(), "editor.theme = dark");
});
