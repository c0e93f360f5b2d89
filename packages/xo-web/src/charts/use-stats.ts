import { onScopeDispose, shallowRef, watch, type ShallowRef } from "vue";
import { RpcError } from "../api/rpc-error.js";
import { useServer } from "../live/use-server.js";
import type { StatsSet } from "./metrics.js";
import { StatsSource, type StatsWish } from "./stats-source.js";

export interface LiveStats {
  /** What is known; what was known stays while the server is gone. */
  readonly set: ShallowRef<StatsSet | undefined>;
  /** The server's words, when it could not tell. */
  readonly error: ShallowRef<string | undefined>;
  /** By host: why it tells nothing. */
  readonly silent: ShallowRef<ReadonlyMap<string, string>>;
}

/** What is asked for, and how long figures stay news. */
export type LiveWish = StatsWish & { readonly refreshMs: number };

/** Statistics of one object, followed while somebody looks, until the scope ends. Undefined: none are wanted now. */
export function useStats(wish: () => LiveWish | undefined): LiveStats {
  const { call, whenOpen } = useServer();
  const set = shallowRef<StatsSet>();
  const error = shallowRef<string>();
  const silent = shallowRef<ReadonlyMap<string, string>>(new Map());
  let source: StatsSource | undefined;
  let wanted: LiveWish | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function ask(): Promise<void> {
    clearTimeout(timer);
    const asked = source;
    if (asked === undefined) return;
    try {
      const told = document.hidden ? undefined : await asked.refresh();
      if (asked !== source) return;
      if (told !== undefined) set.value = told;
      silent.value = new Map(asked.errors);
      error.value = undefined;
    } catch (failure) {
      if (asked !== source) return;
      // While the connection is gone, the page says so elsewhere.
      if (failure instanceof RpcError) error.value = failure.message;
    }
    clearTimeout(timer);
    timer = setTimeout(() => void ask(), wanted?.refreshMs);
  }

  watch(
    wish,
    (next, before) => {
      if (JSON.stringify(next) === JSON.stringify(before)) return;
      wanted = next;
      source = next && new StatsSource(next, call);
      set.value = error.value = undefined;
      silent.value = new Map();
      void ask();
    },
    { immediate: true },
  );
  whenOpen(() => void ask());
  onScopeDispose(() => {
    source = undefined;
    clearTimeout(timer);
  });
  return { set, error, silent };
}
