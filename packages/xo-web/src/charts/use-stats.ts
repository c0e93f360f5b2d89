import { onScopeDispose, shallowRef, watch, type ShallowRef } from "vue";
import { RpcError } from "../api/rpc-error.js";
import { useServer } from "../live/use-server.js";
import type { StatsSet } from "./metrics.js";
import { StatsSource, type StatsRequest } from "./stats-source.js";

interface LiveStats {
  /** The statistics; retained while the connection is lost. */
  readonly set: ShallowRef<StatsSet | undefined>;
  /** Message of the last failure. */
  readonly error: ShallowRef<string | undefined>;
  /** Why a host has no statistics, by host. */
  readonly silent: ShallowRef<ReadonlyMap<string, string>>;
}

/** The request, and its refresh interval. */
type LiveStatsRequest = StatsRequest & { readonly refreshMs: number };

/** Live statistics of one object while the page is visible, until the scope ends. Undefined: none requested. */
export function useStats(
  request: () => LiveStatsRequest | undefined,
): LiveStats {
  const { call, whenOpen } = useServer();
  const set = shallowRef<StatsSet>();
  const error = shallowRef<string>();
  const silent = shallowRef<ReadonlyMap<string, string>>(new Map());
  let source: StatsSource | undefined;
  let requested: LiveStatsRequest | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function load(): Promise<void> {
    clearTimeout(timer);
    const loaded = source;
    if (loaded === undefined) return;
    try {
      const received = document.hidden ? undefined : await loaded.refresh();
      if (loaded !== source) return;
      if (received !== undefined) set.value = received;
      silent.value = new Map(loaded.errors);
      error.value = undefined;
    } catch (failure) {
      if (loaded !== source) return;
      // A banner reports a lost connection.
      if (failure instanceof RpcError) error.value = failure.message;
    }
    clearTimeout(timer);
    timer = setTimeout(() => void load(), requested?.refreshMs);
  }

  watch(
    request,
    (next, before) => {
      if (JSON.stringify(next) === JSON.stringify(before)) return;
      requested = next;
      source = next && new StatsSource(next, call);
      set.value = error.value = undefined;
      silent.value = new Map();
      void load();
    },
    { immediate: true },
  );
  whenOpen(() => void load());
  onScopeDispose(() => {
    source = undefined;
    clearTimeout(timer);
  });
  return { set, error, silent };
}
