import { shallowRef, watch, type ShallowRef } from "vue";
import { isObject } from "@xo-server/kit";
import { useServer } from "../live/use-server.js";
import { anyOf } from "../filters/value-text.js";

/** Hosts per request. */
const MAX_HOSTS = 100;

/** Names of hosts by id, each requested once. */
export function useHostNames(
  ids: () => readonly string[],
): ShallowRef<ReadonlyMap<string, string>> {
  const { call } = useServer();
  const names = shallowRef<ReadonlyMap<string, string>>(new Map());
  const requested = new Set<string>();
  watch(
    () => ids().filter((id) => !requested.has(id)),
    async (unknown) => {
      for (const id of unknown) requested.add(id);
      for (let from = 0; from < unknown.length; from += MAX_HOSTS) {
        const some = unknown.slice(from, from + MAX_HOSTS);
        const answer = await call("query.page", {
          type: "host",
          limit: some.length,
          fields: ["id", "name_label"],
          filter: `id:${anyOf(some)}`,
          // Without an answer the ids are shown.
        }).catch(() => undefined);
        const rows = isObject(answer) ? answer["rows"] : undefined;
        const next = new Map(names.value);
        for (const row of Array.isArray(rows) ? rows : [])
          if (isObject(row))
            next.set(row["id"] as string, row["name_label"] as string);
        names.value = next;
      }
    },
    { immediate: true },
  );
  return names;
}
