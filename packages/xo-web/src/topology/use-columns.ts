import {
  onScopeDispose,
  shallowRef,
  toValue,
  watch,
  type MaybeRefOrGetter,
  type ShallowRef,
} from "vue";
import { RpcError } from "../api/rpc-error.js";
import { useServer } from "../live/use-server.js";
import { TopologyColumns, noRows } from "./column-table.js";

interface ColumnsQuery {
  readonly type: string;
  readonly filter?: string;
  /** At most 8. */
  readonly paths: readonly string[];
}

/** Interval of requests; a response contains only the differences. */
const PAUSE_MS = 4_000;

/** A few properties of all matching objects, polled until the scope ends. */
export function useColumns(query: MaybeRefOrGetter<ColumnsQuery | undefined>): {
  table: Readonly<ShallowRef<TopologyColumns>>;
  /** Whether a response has arrived. */
  isKnown: Readonly<ShallowRef<boolean>>;
  refusal: Readonly<ShallowRef<string | undefined>>;
} {
  const server = useServer();
  const table = shallowRef(noRows);
  const isKnown = shallowRef(false);
  const refusal = shallowRef<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Number of requests, to discard outdated responses. */
  let generation = 0;

  function restart(): void {
    generation++;
    clearTimeout(timer);
    if (toValue(query) !== undefined) void load(generation);
  }

  async function load(own: number): Promise<void> {
    const requested = toValue(query)!;
    if (document.visibilityState !== "hidden") {
      try {
        const { state } = table.value;
        const answer = await server.call("query.columns", {
          ...requested,
          ...(state === undefined ? {} : { known: state }),
        });
        if (own !== generation) return;
        table.value = table.value.take(answer);
        isKnown.value = true;
        refusal.value = undefined;
      } catch (error) {
        if (own !== generation) return;
        if (error instanceof RpcError) refusal.value = error.message;
      }
    }
    timer = setTimeout(() => void load(own), PAUSE_MS);
  }

  server.whenOpen(restart);
  watch(
    () => JSON.stringify(toValue(query)),
    () => {
      table.value = noRows;
      isKnown.value = false;
      restart();
    },
  );
  onScopeDispose(() => {
    generation++;
    clearTimeout(timer);
  });
  return { table, isKnown, refusal };
}
