// Memories of types that a tenant defined.
import type { components } from "./contract.ts";

/**
 * The types that your tenant defined, with their fields. Declare them, and memories of them narrow like all others:
 *
 *     declare module "typed-memory-client" {
 *       interface OwnTypes { ticket: { number: number; customer: string } }
 *     }
 */
export interface OwnTypes {}

type Fields = components["schemas"]["OwnMemoryFields"];

/** A memory of one of the types in `OwnTypes`; `never` if none is declared. */
export type OwnMemory = {
  [Name in keyof OwnTypes]: Omit<Fields, "type" | "payload"> & { type: Name; payload: OwnTypes[Name] };
}[keyof OwnTypes];

/** A memory of any type that a tenant defined, declared or not. */
export type AnyOwnMemory = Fields;

/** Return the memory if its type is one that a tenant defined, else undefined. */
export function ownMemory(memory: object): AnyOwnMemory | undefined {
  return "payload" in memory ? (memory as AnyOwnMemory) : undefined;
}
