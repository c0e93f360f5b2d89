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
} from "./entry.js";

export interface ActivityWish {
  readonly object?: string | undefined;
  readonly pool?: string | undefined;
  /** Empty: all. */
  readonly kinds: readonly ActivityKind[];
  /** Of one page. */
  readonly limit: number;
}

export type ActivityState = "loading" | "live" | "refused";

export interface LiveActivity {
  /** The newest first; what came since stands in `fresh`. */
  readonly entries: ShallowRef<readonly ActivityEntry[]>;
  readonly fresh: ShallowRef<readonly ActivityEntry[]>;
  /** Puts what is fresh above the rest. */
  readonly showFresh: () => void;
  readonly hasMore: ComputedRef<boolean>;
  readonly readMore: () => Promise<void>;
  readonly state: Ref<ActivityState>;
  readonly error: Ref<string | undefined>;
}

/** More of what is new is not kept: the page begins anew then. */
const MOST_FRESH = 500;

/** What happens, live, until the scope ends. Nothing is put above what is read without being asked. */
export function useActivity(wish: () => ActivityWish): LiveActivity {
  const { call, whenOpen, onNotification, subscribe } = useServer();
  const entries = shallowRef<readonly ActivityEntry[]>([]);
  const fresh = shallowRef<readonly ActivityEntry[]>([]);
  const before = ref<number>();
  const state = ref<ActivityState>("loading");
  const error = ref<string>();
  let isReading = false;
  let isAskedAgain = false;
  /** Counts wishes: answers to an older one are late. */
  let epoch = 0;
  subscribe("activity");

  const ask = async (more: Readonly<Record<string, Json>>) => {
    const { object, pool, kinds, limit } = wish();
    const told = await call("activity.list", {
      ...(object === undefined ? {} : { object }),
      ...(pool === undefined ? {} : { pool }),
      ...(kinds.length === 0 ? {} : { kinds }),
      limit,
      ...more,
    });
    return toActivityPage(told);
  };

  async function begin(): Promise<void> {
    const mine = ++epoch;
    try {
      const page = await ask({});
      if (mine !== epoch) return;
      entries.value = page.entries;
      fresh.value = [];
      before.value = page.before;
      state.value = "live";
      error.value = undefined;
    } catch (reason) {
      if (mine !== epoch || entries.value.length > 0) return;
      state.value = "refused";
      error.value = (reason as Error).message;
    }
  }

  async function readNews(): Promise<void> {
    if (isReading) {
      isAskedAgain = true;
      return;
    }
    isReading = true;
    const mine = epoch;
    const newest = fresh.value[0] ?? entries.value[0];
    const after = newest?.seq ?? 0;
    const page = await ask({ after, limit: MOST_FRESH }).catch(() => undefined);
    isReading = false;
    if (mine === epoch && page !== undefined)
      if (page.before !== undefined) await begin();
      else fresh.value = [...page.entries, ...fresh.value];
    if (!isAskedAgain) return;
    isAskedAgain = false;
    await readNews();
  }

  // What has happened while the server was gone is fresh, where it still knows.
  whenOpen(() => void (entries.value.length === 0 ? begin() : readNews()));
  onNotification("activity", () => void readNews());
  watch(
    () => JSON.stringify(wish()),
    () => {
      entries.value = fresh.value = [];
      state.value = "loading";
      void begin();
    },
  );
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
    async readMore() {
      const from = before.value;
      const mine = epoch;
      if (from === undefined) return;
      before.value = undefined;
      const page = await ask({ before: from }).catch(() => undefined);
      if (mine !== epoch) return;
      before.value = page === undefined ? from : page.before;
      if (page !== undefined)
        entries.value = [...entries.value, ...page.entries];
    },
  };
}
