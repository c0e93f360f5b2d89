import { computed, type ComputedRef } from "vue";
import type { Json } from "@xo-server/kit";
import { useAnswer } from "../../details/host/use-answer.js";
import type { HaState } from "../../details/pool/pool-details.js";
import { useObject } from "../../live/use-object.js";
import type { Pool } from "../../objects/infrastructure.js";

/** HA of a pool and its number of failures to tolerate; undefined: not loaded or not permitted. */
export function useHa(
  pool: () => string,
): ComputedRef<
  { readonly isOn: boolean; readonly tolerated: number } | undefined
> {
  const { object } = useObject<Pool>("pool", pool, ["id", "HA_enabled"]);
  const { answer } = useAnswer<Json>(() => ({
    method: "pool.getHaState",
    params: { pool: pool() },
    version: object.value?.HA_enabled,
  }));
  return computed(() => {
    const state = answer.value as HaState | undefined;
    if (object.value === undefined) return undefined;
    return {
      isOn: object.value.HA_enabled,
      tolerated: state?.hostFailuresToTolerate ?? 0,
    };
  });
}
