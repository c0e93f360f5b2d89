import {
  computed,
  ref,
  shallowRef,
  watch,
  type ComputedRef,
  type Ref,
  type ShallowRef,
} from "vue";
import type { Json } from "@xo-server/kit";
import { useServer } from "../live/use-server.js";
import {
  toActivityPage,
  type ActivityEntry,
  type ActivityKind,
  type ActivityPage,
} from "./entry.js";

interface ActivityRequest {
  readonly object?: string | undefined;
  readonly pool?: string | undefined;
  /** Empty: all. */
  readonly kinds: readonly ActivityKind[];
  /** Entries per page. */
  readonly limit: number;
}

type ActivityState = "loading" | "live" | "refused";

interface LiveActivity {
  /** The newest first, without `fresh`. */
  readonly entries: ShallowRef<readonly ActivityEntry[]>;
  /** Entries since the last load. */
  readonly fresh: ShallowRef<readonly ActivityEntry[]>;
  /** Moves the fresh entries to `entries`. */
  readonly showFresh: () => void;
  readonly hasMore: ComputedRef<boolean>;
  readonly readMore: () => Promise<void>;
  readonly state: Ref<ActivityState>;
  readonly error: Ref<string | undefined>;
}

/** With more fresh entries than this the log is loaded again. */
const MAX_FRESH = 500;

type Read = (more: Readonly<Record<string, Json>>) => Promise<ActivityPage>;

/** The activity log, live, until the scope ends. Entries do not move while they are read: new ones are `fresh`. */
export function useActivity(request: () => ActivityRequest): LiveActivity {
  const { call, whenOpen, onNotification, subscribe } = useServer();
  subscribe("activity");
  const read: Read = async (more) => {
    const { object, pool, kinds, limit } = request();
    const answer = await call("activity.list", {
      ...(object === undefined ? {} : { object }),
      ...(pool === undefined ? {} : { pool }),
      ...(kinds.length === 0 ? {} : { kinds }),
      limit,
      ...more,
    });
    return toActivityPage(answer);
  };
  const log = createLog();
  const readFresh = createFreshReader(log, read);

  // After a reconnection, the entries since the connection was lost are fresh, if the server still
  // has them.
  whenOpen(
    () => void (log.entries.value.length === 0 ? load(log, read) : readFresh()),
  );
  onNotification("activity", () => void readFresh());
  watch(
    () => JSON.stringify(request()),
    () => {
      log.entries.value = log.fresh.value = [];
      log.state.value = "loading";
      void load(log, read);
    },
  );
  const { entries, fresh, state, error, before } = log;
  return {
    entries,
    fresh,
    state,
    error,
    showFresh() {
      entries.value = [...fresh.value, ...entries.value];
      fresh.value = [];
    },
    hasMore: computed(() => before.value !== undefined),
    readMore: () => readMore(log, read),
  };
}

interface Log extends Pick<
  LiveActivity,
  "entries" | "fresh" | "state" | "error"
> {
  /** Cursor of the next page; undefined: this is the last one. */
  readonly before: Ref<number | undefined>;
  /** Counts loads: answers to a previous request are ignored. */
  generation: number;
}

function createLog(): Log {
  return {
    entries: shallowRef<readonly ActivityEntry[]>([]),
    fresh: shallowRef<readonly ActivityEntry[]>([]),
    state: ref<ActivityState>("loading"),
    error: ref<string>(),
    before: ref<number>(),
    generation: 0,
  };
}

/** Replaces all entries by the newest page. */
async function load(log: Log, read: Read): Promise<void> {
  const generation = ++log.generation;
  try {
    const page = await read({});
    if (generation !== log.generation) return;
    log.entries.value = page.entries;
    log.fresh.value = [];
    log.before.value = page.before;
    log.state.value = "live";
    log.error.value = undefined;
  } catch (reason) {
    if (generation !== log.generation || log.entries.value.length > 0) return;
    log.state.value = "refused";
    log.error.value = (reason as Error).message;
  }
}

/** @returns reads the entries since the newest; one read at a time, again if it was called meanwhile */
function createFreshReader(log: Log, read: Read): () => Promise<void> {
  let isReading = false;
  let isRequested = false;
  return async function readFresh(): Promise<void> {
    if (isReading) {
      isRequested = true;
      return;
    }
    isReading = true;
    const { generation } = log;
    const newest = log.fresh.value[0] ?? log.entries.value[0];
    const after = newest?.seq ?? 0;
    // After the connection was lost, the entries are read again when it is back.
    const page = await read({ after, limit: MAX_FRESH }).catch(() => undefined);
    isReading = false;
    if (generation === log.generation && page !== undefined)
      if (page.before !== undefined) await load(log, read);
      else log.fresh.value = [...page.entries, ...log.fresh.value];
    if (!isRequested) return;
    isRequested = false;
    await readFresh();
  };
}

async function readMore(log: Log, read: Read): Promise<void> {
  const from = log.before.value;
  const { generation } = log;
  if (from === undefined) return;
  log.before.value = undefined;
  // The button stays, so that the user can retry.
  const page = await read({ before: from }).catch(() => undefined);
  if (generation !== log.generation) return;
  log.before.value = page === undefined ? from : page.before;
  if (page !== undefined)
    log.entries.value = [...log.entries.value, ...page.entries];
}
