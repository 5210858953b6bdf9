export { TypedMemory } from "./client.ts";
export type { MemoryId, RememberControl, WriteControl } from "./client.ts";
export type { components, operations, paths } from "./contract.ts";
export * from "./errors.ts";
export { tenantTypeMemory } from "./tenant-types.ts";
export type { AnyTenantTypeMemory, TenantTypeMemory, TenantTypes } from "./tenant-types.ts";
export type { ClientOptions, Identity } from "./transport.ts";
export type * from "./types.ts";
