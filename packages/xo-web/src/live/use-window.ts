import {
  computed,
  onScopeDispose,
  shallowRef,
  toValue,
  watch,
  type ComputedRef,
  type MaybeRefOrGetter,
  type ShallowRef,
} from "vue";
import type { ObjectRow } from "../api/object-row.js";
import {
  emptyView,
  LiveWindow,
  type SortKey,
  type WindowRequest,
  type WindowState,
} from "./live-window.js";
import { useServer } from "./use-server.js";

export interface LiveRows<T> {
  /** Replaced when something differs; rows that did not change stay the same objects. */
  readonly rows: ComputedRef<readonly T[]>;
  /** Index of the first row in the whole result. */
  readonly offset: ComputedRef<number>;
  readonly total: ComputedRef<number | undefined>;
  /** False: a pool is still being loaded, there may be more objects. */
  readonly isComplete: ComputedRef<boolean>;
  readonly state: ComputedRef<WindowState>;
  readonly error: ComputedRef<string | undefined>;
}

/**
 * A live window on the server's objects, until the scope ends. Undefined: none is requested now.
 */
export function useWindow<T = ObjectRow>(
  request: MaybeRefOrGetter<WindowRequest | undefined>,
): LiveRows<T> {
  const server = useServer();
  const view: ShallowRef<typeof emptyView> = shallowRef(emptyView);
  const live = new LiveWindow({
    name: server.nextQueryName(),
    call: server.call,
    onView: (next) => {
      view.value = next;
    },
  });
  server.onNotification("query", (params) => {
    live.notified(params);
  });
  server.whenOpen(() => {
    live.connected();
  });
  watch(
    () => server.view.value.connection.name,
    (name) => {
      if (name !== "open") live.disconnected();
    },
    { flush: "sync" },
  );
  watch(
    () => toValue(request),
    (next, before) => {
      if (JSON.stringify(next) !== JSON.stringify(before)) live.request(next);
    },
    { immediate: true },
  );
  onScopeDispose(() => {
    live.close();
  });
  return {
    rows: computed(() => view.value.rows as unknown as readonly T[]),
    offset: computed(() => view.value.offset),
    total: computed(() => view.value.total),
    isComplete: computed(() => view.value.isComplete),
    state: computed(() => view.value.state),
    error: computed(() => view.value.error),
  };
}

/** A small set of related objects, such as the disks of a VM: by default at most 500. */
export function useObjects<T = ObjectRow>(
  request: () =>
    | {
        readonly type: string;
        readonly filter?: string;
        readonly ids?: readonly string[];
        readonly sort?: readonly SortKey[];
        readonly fields?: readonly string[];
        readonly limit?: number;
      }
    | undefined,
): LiveRows<T> {
  return useWindow<T>(() => {
    const requested = request();
    return requested && { limit: 500, ...requested, offset: 0 };
  });
}
