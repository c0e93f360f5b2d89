import {
  computed,
  toValue,
  type ComputedRef,
  type MaybeRefOrGetter,
} from "vue";
import type { ObjectRow } from "../api/object-row.js";
import { useWindow } from "./use-window.js";

export type FetchState = "loading" | "found" | "gone" | "refused";

/**
 * One object, live, until the scope ends.
 * @param id undefined: none is requested now
 * @param fields default: the whole object, without `now`
 */
export function useObject<T = ObjectRow>(
  type: MaybeRefOrGetter<string>,
  id: MaybeRefOrGetter<string | undefined>,
  fields?: readonly string[],
): {
  object: ComputedRef<T | undefined>;
  state: ComputedRef<FetchState>;
  /** The server is disconnected: this is the last known state. */
  isStale: ComputedRef<boolean>;
} {
  const { rows, state } = useWindow<T>(() => {
    const requested = toValue(id);
    if (requested === undefined) return undefined;
    return {
      type: toValue(type),
      ids: [requested],
      ...(fields === undefined ? {} : { fields }),
      offset: 0,
      limit: 1,
    };
  });
  return {
    object: computed(() => rows.value[0]),
    state: computed(() => {
      if (state.value === "refused" || state.value === "loading")
        return state.value;
      return rows.value.length === 0 ? "gone" : "found";
    }),
    isStale: computed(() => state.value === "stale"),
  };
}
