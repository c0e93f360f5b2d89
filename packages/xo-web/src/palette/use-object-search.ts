import { shallowRef, watch, type Ref, type ShallowRef } from "vue";
import type { Call } from "../api/server-connection.js";
import type { ObjectRow } from "../api/object-row.js";
import { searchObjects } from "./object-search.js";

interface ObjectSearch {
  /** Results for `answered`; they stay until the next results arrive. */
  readonly found: ShallowRef<readonly ObjectRow[]>;
  /** The typed text that the results are for. */
  readonly answered: Ref<string>;
}

interface SearchedTypes {
  readonly types: readonly string[];
  readonly most: number;
  /** No request is sent before this pause in typing, in ms. */
  readonly debounceMs?: number;
}

/** Searches while typing: one request at a time, the next one for the latest text. */
export function useObjectSearch(
  call: Call,
  typed: () => string,
  { types, most, debounceMs = 0 }: SearchedTypes,
): ObjectSearch {
  const found = shallowRef<readonly ObjectRow[]>([]);
  const answered = shallowRef("");
  let isAsking = false;

  async function search(): Promise<void> {
    if (isAsking) return;
    isAsking = true;
    while (answered.value !== typed()) {
      const requested = typed();
      if (debounceMs > 0)
        await new Promise((done) => setTimeout(done, debounceMs));
      if (requested !== typed()) continue;
      const rows = await searchObjects(call, requested, types);
      found.value = rows.slice(0, most);
      answered.value = requested;
    }
    isAsking = false;
  }

  watch(typed, () => void search(), { immediate: true });
  return { found, answered };
}
