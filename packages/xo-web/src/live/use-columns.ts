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

export interface ColumnsWish {
  readonly type: string;
  readonly filter?: string;
  /** 8 at most. */
  readonly paths: readonly string[];
}

export interface LiveColumns {
  /** Told again when something in it differs. What is in it is kept while another wish is being answered, if the type is the same. */
  readonly table: ShallowRef<ColumnTable | undefined>;
  /** The server's words, when it refused. */
  readonly error: ShallowRef<string | undefined>;
}

/** However often is wished: what takes long to tell is asked for less often, so many times as long apart, up to a bound. */
const PATIENCE = 4;
const LONGEST_MS = 20_000;

/**
 * A few properties of all objects of a type, asked for every few seconds while
 * somebody looks; only what differs is told. Until the scope ends.
 * @param wish undefined: nothing is wanted now
 */
export function useColumns(
  wish: () => ColumnsWish | undefined,
  everyMs = 5_000,
): LiveColumns {
  const { call, whenOpen } = useServer();
  const table = shallowRef<ColumnTable>();
  const error = shallowRef<string>();
  let wanted: ColumnsWish | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asking: ColumnsWish | undefined;

  async function ask(): Promise<void> {
    clearTimeout(timer);
    const asked = wanted;
    if (asked === undefined || asking === asked) return;
    asking = asked;
    const start = performance.now();
    await read(asked).catch((failure: unknown) => {
      if (failure instanceof RpcError && asked === wanted)
        error.value = failure.message;
    });
    asking = undefined;
    const took = performance.now() - start;
    const patience = Math.min(PATIENCE * took, LONGEST_MS);
    const pause = asked === wanted ? Math.max(everyMs, patience) : 0;
    clearTimeout(timer);
    timer = setTimeout(() => void ask(), pause);
  }

  async function read(asked: ColumnsWish): Promise<void> {
    if (document.hidden) return;
    const known = table.value?.state;
    const told = await call("query.columns", {
      type: asked.type,
      paths: [...asked.paths],
      ...(asked.filter === undefined ? {} : { filter: asked.filter }),
      ...(known === undefined ? {} : { known }),
    });
    if (asked !== wanted) return;
    error.value = undefined;
    table.value ??= new ColumnTable();
    if (table.value.take(told)) triggerRef(table);
  }

  watch(
    () => JSON.stringify(wish()),
    () => {
      const next = wish();
      const isSame =
        wanted?.type === next?.type && wanted?.filter === next?.filter;
      if (!isSame) table.value = undefined;
      wanted = next;
      void ask();
    },
    { immediate: true },
  );
  whenOpen(() => {
    // The server may be another process by now: its numbers are others.
    asking = undefined;
    void ask();
  });
  onScopeDispose(() => {
    wanted = undefined;
    clearTimeout(timer);
  });
  return { table, error };
}
