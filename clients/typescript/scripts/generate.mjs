// Write src/contract.ts from the part of the contract that the clients use, or with --check compare it.
//
// `python -m codegen` writes that part to clients/build/contract.json first. A memory of a tenant's own type has any
// name in `type`, which would keep the union of memories from narrowing; so that member is declared in src/tenant-types.ts.
import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";

const source = new URL("../../build/contract.json", import.meta.url);
const target = new URL("../src/contract.ts", import.meta.url);
const TENANT_TYPE = "TenantTypeMemory";
const FIELDS = "TenantTypeMemoryFields";

const contract = JSON.parse(await readFile(source, "utf8"));
const schemas = contract.components.schemas;
schemas[FIELDS] = { ...schemas[TENANT_TYPE] };

const ast = await openapiTS(contract, {
  defaultNonNullable: false, // what has a default may be left out
  transform(_schema, { path }) {
    return path === `#/components/schemas/${TENANT_TYPE}` ? ts.factory.createTypeReferenceNode(TENANT_TYPE) : undefined;
  },
});
const text = [
  "// Generated from the contract by `npm run generate`: do not edit.",
  `import type { ${TENANT_TYPE} } from "./tenant-types.ts";`,
  "",
  astToString(ast),
].join("\n");

if (process.argv.includes("--check")) {
  const current = await readFile(target, "utf8").catch(() => "");
  if (current !== text) {
    console.error("src/contract.ts is out of date: run `make clients-generate`");
    process.exitCode = 1;
  }
} else {
  await writeFile(target, text);
}
