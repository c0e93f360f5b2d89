import { computed, type ComputedRef } from "vue";
import { useObjects } from "../../live/use-window.js";

interface Named {
  readonly id: string;
  readonly type: string;
  readonly name_label?: string;
}

/** What rights are given on. */
export const rightTypes = [
  "VM",
  "VM-template",
  "host",
  "pool",
  "SR",
  "network",
];
const FIELDS = ["id", "type", "name_label"];

/** Type and name of objects of which only the id is known. Those that are gone are not in it. */
export function useObjectTypes(
  ids: () => readonly string[],
): ComputedRef<ReadonlyMap<string, { type: string; name: string }>> {
  const found = rightTypes.map((type) =>
    useObjects<Named>(() => {
      const wanted = ids().filter((id) => /^[\w-]+$/.test(id));
      if (wanted.length === 0) return undefined;
      return { type, filter: `id:|(${wanted.join(" ")})`, fields: FIELDS };
    }),
  );
  return computed(
    () =>
      new Map(
        found.flatMap(({ rows }) =>
          rows.value.map(({ id, type, name_label = "" }) => [
            id,
            { type, name: name_label },
          ]),
        ),
      ),
  );
}
