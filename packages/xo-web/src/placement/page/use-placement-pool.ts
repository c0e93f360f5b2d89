import { computed, watchEffect, type ComputedRef } from "vue";
import type { ObjectRow } from "../../api/object-row.js";
import { usePoolChoice } from "../../topology/use-pool-choice.js";
import { readStored, writeStored } from "../../browser/stored-value.js";
import { placementPool } from "../placement-pool.js";

const key = "placement-pool";

/** The chosen pool: that of the address, else the last one in this browser, else the first. */
export function usePlacementPool(): {
  pools: ComputedRef<readonly ObjectRow[]>;
  pool: ComputedRef<ObjectRow | undefined>;
  isLoading: ComputedRef<boolean>;
  refusal: ComputedRef<string | undefined>;
  choose: (id: string) => void;
} {
  const { pools, pool: named, isLoading, refusal, choose } = usePoolChoice();
  const last = readStored(key);
  const pool = computed(
    () => named.value ?? placementPool(pools.value, last ?? undefined),
  );
  watchEffect(() => {
    if (pool.value !== undefined) writeStored(key, pool.value.id);
  });
  return { pools, pool, isLoading, refusal, choose };
}
