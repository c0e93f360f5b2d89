import {
  onScopeDispose,
  shallowRef,
  triggerRef,
  watch,
  type ShallowRef,
} from "vue";
import { RpcError } from "../api/rpc-error.js";
import { ColumnTable } from "./column-table.js";
import { useServer } from "./use-server.js";

export interface ColumnsRequest {
  readonly type: string;
  readonly filter?: string;
  /** 8 at most. */
  readonly paths: readonly string[];
}

export interface LiveColumns {
  /**
   * Triggered when its content changes. Cached until the response to another request of the same
   * type and filter.
   */
  readonly table: ShallowRef<ColumnTable | undefined>;
  /** The error of the server. */
  readonly error: ShallowRef<string | undefined>;
}

/** The interval is at least this multiple of the duration of the last request, up to MAX_INTERVAL_MS. */
const DURATION_FACTOR = 4;
const MAX_INTERVAL_MS = 20_000;

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
  let asking: ColumnsRequest | undefined;

  async function ask(): Promise<void> {
    clearTimeout(timer);
    const asked = requested;
    if (asked === undefined || asking === asked) return;
    asking = asked;
    const start = performance.now();
    await read(asked).catch((failure: unknown) => {
      if (failure instanceof RpcError && asked === requested)
        error.value = failure.message;
    });
    asking = undefined;
    const took = performance.now() - start;
    const minimum = Math.min(DURATION_FACTOR * took, MAX_INTERVAL_MS);
    const pause = asked === requested ? Math.max(everyMs, minimum) : 0;
    clearTimeout(timer);
    timer = setTimeout(() => void ask(), pause);
  }

  async function read(asked: ColumnsRequest): Promise<void> {
    if (document.hidden) return;
    const known = table.value?.state;
    const answer = await call("query.columns", {
      type: asked.type,
      paths: [...asked.paths],
      ...(asked.filter === undefined ? {} : { filter: asked.filter }),
      ...(known === undefined ? {} : { known }),
    });
    if (asked !== requested) return;
    error.value = undefined;
    table.value ??= new ColumnTable();
    if (table.value.take(answer)) triggerRef(table);
  }

  watch(
    () => JSON.stringify(request()),
    () => {
      const next = request();
      const isSame =
        requested?.type === next?.type && requested?.filter === next?.filter;
      if (!isSame) table.value = undefined;
      requested = next;
      void ask();
    },
    { immediate: true },
  );
  whenOpen(() => {
    // After a restart of the server its state tokens are different.
    asking = undefined;
    void ask();
  });
  onScopeDispose(() => {
    requested = undefined;
    clearTimeout(timer);
  });
  return { table, error };
}
