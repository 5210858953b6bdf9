export { TypedMemory } from "./client.ts";
export type { MemoryId, RememberControl, WriteControl } from "./client.ts";
export type { components, operations, paths } from "./contract.ts";
export * from "./errors.ts";
export { ownMemory } from "./own.ts";
export type { AnyOwnMemory, OwnMemory, OwnTypes } from "./own.ts";
export type { ClientOptions, Identity } from "./transport.ts";
export type * from "./types.ts";
