import {
  onScopeDispose,
  shallowRef,
  triggerRef,
  watch,
  type ShallowRef,
} from "vue";
import { RpcError } from "../api/rpc-error.js";
import { columnsInterval } from "./columns-interval.js";
import { ColumnTable } from "./column-table.js";
import { useServer } from "./use-server.js";

interface ColumnsRequest {
  readonly type: string;
  readonly filter?: string;
  /** At most 8. */
  readonly paths: readonly string[];
}

interface LiveColumns {
  /**
   * Triggered when its content changes. Cached until the response to another request of the same
   * type and filter.
   */
  readonly table: ShallowRef<ColumnTable | undefined>;
  /** The error of the server. */
  readonly error: ShallowRef<string | undefined>;
}

/**
 * A few properties of all objects of a type, polled until the scope ends while the
 * page is visible. The server sends only the columns that changed.
 * @param request undefined: none
 */
export function useColumns(
  request: () => ColumnsRequest | undefined,
  everyMs = 5_000,
): LiveColumns {
  const { call, whenOpen } = useServer();
  const table = shallowRef<ColumnTable>();
  const error = shallowRef<string>();
  let requested: ColumnsRequest | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let pending: ColumnsRequest | undefined;

  async function poll(): Promise<void> {
    clearTimeout(timer);
    const current = requested;
    if (current === undefined || pending === current) return;
    pending = current;
    const start = performance.now();
    await read(current).catch((failure: unknown) => {
      if (failure instanceof RpcError && current === requested)
        error.value = failure.message;
    });
    pending = undefined;
    const interval = columnsInterval(everyMs, {
      tookMs: performance.now() - start,
      isComplete: table.value?.isComplete !== false,
    });
    clearTimeout(timer);
    timer = setTimeout(() => void poll(), current === requested ? interval : 0);
  }

  async function read(current: ColumnsRequest): Promise<void> {
    if (document.hidden) return;
    const known = table.value?.state;
    const answer = await call("query.columns", {
      type: current.type,
      paths: [...current.paths],
      ...(current.filter === undefined ? {} : { filter: current.filter }),
      ...(known === undefined ? {} : { known }),
    });
    if (current !== requested) return;
    error.value = undefined;
    table.value ??= new ColumnTable();
    if (table.value.take(answer)) triggerRef(table);
  }

  // Before the watcher: on an open connection this calls the listener, and nothing is requested yet.
  whenOpen(() => {
    // After a restart of the server its state tokens are different.
    pending = undefined;
    void poll();
  });
  watch(
    () => JSON.stringify(request()),
    () => {
      const next = request();
      const isSame =
        requested?.type === next?.type && requested?.filter === next?.filter;
      if (!isSame) table.value = undefined;
      requested = next;
      void poll();
    },
    { immediate: true },
  );
  onScopeDispose(() => {
    requested = undefined;
    clearTimeout(timer);
  });
  return { table, error };
}
