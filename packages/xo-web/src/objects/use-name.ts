import { computed, shallowReactive, watchEffect, type ComputedRef } from "vue";
import { isObject } from "@xo-server/kit";
import type { Call } from "../api/status-stream.js";
import { useServer } from "../live/use-server.js";

/** Names by id, as they were when they were asked for; the oldest go. */
const names = shallowReactive(new Map<string, string>());
const MOST = 5_000;
/** Ids by type that wait for the next question. */
let waiting = new Map<string, Set<string>>();

/**
 * The name of an object that is only mentioned. Many that are wanted at the same
 * time are one question; they are not followed.
 */
export function useName(
  type: () => string,
  id: () => string | undefined,
): ComputedRef<string | undefined> {
  const { call } = useServer();
  watchEffect(() => {
    const wanted = id();
    if (wanted !== undefined && !names.has(wanted)) ask(call, type(), wanted);
  });
  return computed(() => {
    const wanted = id();
    return wanted === undefined ? undefined : names.get(wanted);
  });
}

/** Who knows a name already tells it. */
export function tellName(id: string, name: string): void {
  if (names.get(id) === name) return;
  names.delete(id);
  names.set(id, name);
  for (const oldest of names.keys()) {
    if (names.size <= MOST) break;
    names.delete(oldest);
  }
}

function ask(call: Call, type: string, id: string): void {
  if (waiting.size === 0)
    setTimeout(() => {
      const questions = waiting;
      waiting = new Map();
      for (const [type, ids] of questions) void read(call, type, [...ids]);
    });
  const ids = waiting.get(type) ?? new Set();
  waiting.set(type, ids.add(id));
}

async function read(call: Call, type: string, ids: string[]): Promise<void> {
  const some = ids.splice(0, 1_000);
  const fields = ["id", "name_label"];
  const answer = await call("query.page", {
    type,
    ids: some,
    fields,
    limit: some.length,
  }).catch(() => null);
  const rows = isObject(answer) ? answer["rows"] : undefined;
  for (const row of Array.isArray(rows) ? rows : []) {
    const { id, name_label } = isObject(row) ? row : {};
    if (typeof id === "string" && typeof name_label === "string")
      tellName(id, name_label);
  }
  if (ids.length > 0) await read(call, type, ids);
}
