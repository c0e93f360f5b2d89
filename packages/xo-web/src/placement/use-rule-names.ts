import { shallowRef, watch, type ShallowRef } from "vue";
import { isObject, type Json } from "@xo-server/kit";
import { useServer } from "../live/use-server.js";

/** Names of the placement rules of a pool by id, loaded once per connection; empty while loading or without permission. */
export function useRuleNames(
  pool: () => string | undefined,
): Readonly<ShallowRef<ReadonlyMap<string, string>>> {
  const { call, whenOpen } = useServer();
  const names = shallowRef<ReadonlyMap<string, string>>(new Map());

  async function read(): Promise<void> {
    const id = pool();
    if (id === undefined) return;
    const rules = await call("placementRule.getAll", { pool: id }).catch(
      () => null,
    );
    if (id !== pool() || !Array.isArray(rules)) return;
    names.value = new Map(rules.flatMap(nameOf));
  }
  whenOpen(() => void read());
  watch(pool, () => void read());
  return names;
}

function nameOf(rule: Json): [string, string][] {
  const { id, name } = isObject(rule) ? rule : {};
  return typeof id === "string" && typeof name === "string" && name !== ""
    ? [[id, name]]
    : [];
}
