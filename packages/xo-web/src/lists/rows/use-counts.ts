import { monotonicClock } from "@xo-server/kit";
import { onScopeDispose, shallowRef, watch, type ShallowRef } from "vue";
import { SpacedRuns } from "../../live/spaced-runs.js";
import { useServer } from "../../live/use-server.js";

/** Interval of counting, and delay after a change of the query, in ms. */
const AGAIN_MS = 5_000;
const PAUSE_MS = 200;
/** Least time between two counts because of changes of the list, in ms. */
const CHANGES_MS = 1_000;

interface CountRequest {
  readonly id: string;
  readonly type: string;
  readonly filter: string;
  readonly search: string;
}

/**
 * The number of matching objects for each of some filters, by their ids; kept up to
 * date.
 * @param listState state of the list, empty until its first rows are known; when it changes, the
 *   objects are counted again
 */
export function useCounts(
  requests: () => readonly CountRequest[],
  listState: () => string,
): ShallowRef<ReadonlyMap<string, number>> {
  const { call, whenOpen } = useServer();
  const counts = shallowRef<ReadonlyMap<string, number>>(new Map());
  let turn = 0;
  let pause: ReturnType<typeof setTimeout> | undefined;

  async function count(): Promise<void> {
    const own = ++turn;
    const found = await Promise.all(
      requests().map(async ({ id, ...selection }) => {
        // Without an answer the count is not shown.
        const n = await call("query.count", { ...selection }).catch(() => null);
        return [id, n] as const;
      }),
    );
    if (own !== turn) return;
    const known = found.filter((one): one is [string, number] =>
      Number.isInteger(one[1]),
    );
    counts.value = new Map(known);
  }

  watch(
    () => JSON.stringify(requests()),
    () => {
      clearTimeout(pause);
      pause = setTimeout(() => void count(), PAUSE_MS);
    },
  );
  const changes = new SpacedRuns({
    clock: monotonicClock,
    everyMs: CHANGES_MS,
    run: () => void count(),
  });
  watch(listState, () => {
    changes.request();
  });
  whenOpen(() => {
    // Before the first rows are known the server does not count: the rows would wait for that.
    if (listState() !== "") changes.request();
  });
  const timer = setInterval(() => {
    if (!document.hidden) void count();
  }, AGAIN_MS);
  onScopeDispose(() => {
    clearInterval(timer);
    clearTimeout(pause);
    changes.stop();
  });
  return counts;
}
