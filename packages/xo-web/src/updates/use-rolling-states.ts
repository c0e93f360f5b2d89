import { watch, type Ref, type ShallowRef } from "vue";
import type { Json } from "@xo-server/kit";
import type { RollingState } from "../details/pool/rolling-plan.js";
import { usePolled } from "../forms/use-polled.js";

const POLL_MS = 5_000;

/** The rolling updates of pools, by their ids; polled every 5 s. */
export function useRollingStates(pools: Readonly<Ref<readonly string[]>>): {
  readonly states: Readonly<
    ShallowRef<ReadonlyMap<string, RollingState> | undefined>
  >;
  readonly reload: () => Promise<void>;
} {
  const { value: states, reload } = usePolled<
    ReadonlyMap<string, RollingState>
  >(async (call) => {
    const found = await Promise.all(
      pools.value.map(async (pool) => {
        // The pool was deleted, or its server is disconnected.
        const none = () => undefined;
        const state = await call("pool.getRollingState", { pool }).catch(none);
        return [pool, state] as readonly [string, Json | undefined];
      }),
    );
    return new Map(
      found.flatMap(([pool, state]) =>
        state === undefined
          ? []
          : [[pool, state as unknown as RollingState] as const],
      ),
    );
  }, POLL_MS);
  watch(
    () => pools.value.join(),
    () => void reload(),
  );
  return { states, reload };
}
