// Memories of types that a tenant defined.
import type { components } from "./contract.ts";

/**
 * The types that your tenant defined, with their fields. Declare them, and memories of them narrow like all others:
 *
 *     declare module "typed-memory-client" {
 *       interface TenantTypes { ticket: { number: number; customer: string } }
 *     }
 */
export interface TenantTypes {}

type Fields = components["schemas"]["TenantTypeMemoryFields"];

/** A memory of one of the types in `TenantTypes`; `never` if none is declared. */
export type TenantTypeMemory = {
  [Name in keyof TenantTypes]: Omit<Fields, "type" | "payload"> & { type: Name; payload: TenantTypes[Name] };
}[keyof TenantTypes];

/** A memory of any type that a tenant defined, declared or not. */
export type AnyTenantTypeMemory = Fields;

/** Return the memory if its type is one that a tenant defined, else undefined. */
export function tenantTypeMemory(memory: object): AnyTenantTypeMemory | undefined {
  return "payload" in memory ? (memory as AnyTenantTypeMemory) : undefined;
}
