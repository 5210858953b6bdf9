// The package as users get it: packed, installed into an empty project, compiled and run there.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

const root = join(import.meta.dirname, "..");
const project = mkdtempSync(join(tmpdir(), "typed-memory-pack-"));
after(() => rmSync(project, { recursive: true }));

// The type `ticket` is declared in the README, whose blocks are compiled with this program.
const PROGRAM = `
import { TypedMemory, type Memory } from "typed-memory-client";

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
  const programs = [PROGRAM, ...readmeBlocks()];
  const files = programs.map((_, number) => `program${number}.ts`);
  for (const [number, program] of programs.entries()) {
    writeFileSync(join(project, files[number]!), `${program}\nexport {};\n`);
  }
  const types = ["--typeRoots", join(root, "node_modules/@types"), "--types", "node", "--skipLibCheck"];
  run(join(root, "node_modules/.bin/tsc"), "--module", "nodenext", "--target", "es2022", "--strict", ...types, ...files);
  assert.equal(run("node", "program0.js").trim(), "editor.theme = dark");
  assert.match(run("node", "program1.js"), /Berlin/);
});

function readmeBlocks(): string[] {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  return [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map((one) => one[1]!);
}
