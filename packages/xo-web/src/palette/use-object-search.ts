import { shallowRef, watch, type Ref, type ShallowRef } from "vue";
import type { Call } from "../api/status-stream.js";
import type { ObjectRow } from "../objects/object-row.js";
import { searchObjects } from "./object-search.js";

export interface ObjectSearch {
  /** What was found for `answered`; stays until the next is found. */
  readonly found: ShallowRef<readonly ObjectRow[]>;
  /** The typed text that it is for. */
  readonly answered: Ref<string>;
}

/** Finds as one types: one question at a time, the next is for what stands there then. */
export function useObjectSearch(call: Call, typed: () => string): ObjectSearch {
  const found = shallowRef<readonly ObjectRow[]>([]);
  const answered = shallowRef("");
  let isAsking = false;

  async function ask(): Promise<void> {
    if (isAsking) return;
    isAsking = true;
    while (answered.value !== typed()) {
      const wanted = typed();
      found.value = await searchObjects(call, wanted);
      answered.value = wanted;
    }
    isAsking = false;
  }

  watch(typed, () => void ask(), { immediate: true });
  return { found, answered };
}
