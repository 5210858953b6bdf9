// A client of the service that TM_URL and TM_API_KEY name, for a user that no other test has.
import { randomUUID } from "node:crypto";
import { TypedMemory } from "../src/index.ts";

export function newUser(): string {
  return `user-${randomUUID().slice(0, 12)}`;
}

export function newMemory(user_id: string = newUser()): TypedMemory {
  return new TypedMemory({ user_id });
}

export async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const one of items) found.push(one);
  return found;
}
