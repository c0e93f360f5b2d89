import { computed, type ComputedRef } from "vue";
import { useObjects } from "../../live/use-window.js";
import { anyOf } from "../../filters/value-text.js";

interface Named {
  readonly id: string;
  readonly type: string;
  readonly name_label?: string;
}

/** Types of objects that ACLs exist for. */
export const rightTypes = [
  "VM",
  "VM-template",
  "host",
  "pool",
  "SR",
  "network",
];
const FIELDS = ["id", "type", "name_label"];

/** Type and name of objects by their ids, without deleted objects. */
export function useObjectTypes(
  ids: () => readonly string[],
): ComputedRef<ReadonlyMap<string, { type: string; name: string }>> {
  const found = rightTypes.map((type) =>
    useObjects<Named>(() => {
      const valid = ids().filter((id) => /^[\w-]+$/.test(id));
      if (valid.length === 0) return undefined;
      return { type, filter: `id:${anyOf(valid)}`, fields: FIELDS };
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
