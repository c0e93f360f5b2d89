import {
  onScopeDispose,
  shallowRef,
  triggerRef,
  watch,
  type Ref,
  type ShallowRef,
} from "vue";
import type { Json } from "@xo-server/kit";
import { windowAround, type RowWindow } from "../lists/rows/row-window.js";
import { LiveWindow } from "../live/live-window.js";
import { useServer } from "../live/use-server.js";
import type { ObjectRow } from "../api/object-row.js";
import { HeldWindow } from "./held-window.js";
import type { RunRequest } from "./outline.js";

/** A run to load, and its visible lines. */
export interface RequestedRun {
  readonly key: string;
  readonly request: RunRequest;
  readonly first: number;
  readonly end: number;
}

export interface Runs {
  /** Undefined until the server has answered. */
  readonly totalOf: (key: string) => number | undefined;
  /** Undefined: not loaded yet. */
  readonly rowAt: (key: string, position: number) => ObjectRow | undefined;
  /** Index of an object among the loaded lines; -1: it is not loaded. */
  readonly positionOf: (key: string, id: string) => number;
  /** Error message of the server. */
  readonly errorOf: (key: string) => string | undefined;
  /** Loads these runs, and stops updating all others. */
  readonly follow: (requested: readonly RequestedRun[]) => void;
}

interface Run {
  readonly live: LiveWindow;
  readonly held: HeldWindow;
  requested?: string;
  window?: RowWindow;
}

/** The server allows 64 windows per client, and the page needs others too. */
const MAX_WINDOWS = 24;
const FIELDS = ["id", "type", "name_label", "power_state"];
const MORE = ["current_operations", "enabled", "inMaintenanceMode", "$pool"];

/**
 * Passes notifications and changes of the connection to the windows of all
 * runs, and closes them when the scope ends.
 * @returns whether the connection is open now
 */
function useConnectedRuns(
  server: ReturnType<typeof useServer>,
  runs: ShallowRef<Map<string, Run>>,
): () => boolean {
  let isConnected = false;
  server.onNotification("query", (params: Json) => {
    for (const { live } of runs.value.values()) live.notified(params);
  });
  server.whenOpen(() => {
    isConnected = true;
    for (const { live } of runs.value.values()) live.connected();
  });
  watch(
    () => server.view.value.connection.name,
    (name) => {
      isConnected &&= name === "open";
      if (name === "open") return;
      for (const { live } of runs.value.values()) live.disconnected();
    },
    { flush: "sync" },
  );
  onScopeDispose(() => {
    for (const { live } of runs.value.values()) live.close();
  });
  return () => isConnected;
}

/** Live windows on runs of a tree, until the scope ends. */
export function useRuns(isHeld: Ref<boolean>): Runs {
  const server = useServer();
  const runs = shallowRef(new Map<string, Run>());
  /** Replaced when the set of runs changes: rows change much more often. */
  const totals = shallowRef<ReadonlyMap<string, number>>(new Map());
  const isConnected = useConnectedRuns(server, runs);
  watch(isHeld, (holds) => {
    if (holds) return;
    for (const { held } of runs.value.values()) held.release();
    changed();
  });

  function follow(list: readonly RequestedRun[]): void {
    const some = list.slice(0, MAX_WINDOWS);
    const keys = new Set(some.map(({ key }) => key));
    for (const [key, { live }] of runs.value)
      if (!keys.has(key)) {
        live.close();
        runs.value.delete(key);
      }
    for (const one of some)
      request(runs.value.get(one.key) ?? open(one.key), one);
  }

  function changed(): void {
    const next = new Map<string, number>();
    for (const [key, { held }] of runs.value)
      if (held.shown.total !== undefined) next.set(key, held.shown.total);
    const before = totals.value;
    const isSame = [...next].every(([key, total]) => before.get(key) === total);
    if (!isSame || next.size !== before.size) totals.value = next;
    triggerRef(runs);
  }

  function open(key: string): Run {
    const held = new HeldWindow();
    const live = new LiveWindow({
      name: server.nextQueryName(),
      call: server.call,
      onView(view) {
        held.take(view, isHeld.value);
        changed();
      },
    });
    const run = { live, held };
    runs.value.set(key, run);
    if (isConnected()) live.connected();
    return run;
  }

  function request(run: Run, { request, first, end }: RequestedRun): void {
    run.window = windowAround({ first, end }, run.window);
    const next = { ...request, ...run.window, fields: [...FIELDS, ...MORE] };
    const requested = JSON.stringify(next);
    if (requested === run.requested) return;
    run.requested = requested;
    run.live.request(next);
  }

  const rowsOf = (key: string) => runs.value.get(key)?.held.shown;
  return {
    follow,
    totalOf: (key) => totals.value.get(key),
    errorOf: (key) => rowsOf(key)?.error,
    rowAt(key, position) {
      const view = rowsOf(key);
      const row = view?.rows[position - view.offset];
      return row as unknown as ObjectRow | undefined;
    },
    positionOf(key, id) {
      const view = rowsOf(key);
      const rows = (view?.rows ?? []) as unknown as readonly ObjectRow[];
      const at = rows.findIndex((row) => row.id === id);
      return at === -1 ? -1 : at + view!.offset;
    },
  };
}
