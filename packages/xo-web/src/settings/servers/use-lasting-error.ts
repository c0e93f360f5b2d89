import { computed, shallowRef, watch, type ComputedRef } from "vue";
import type { PoolStatus } from "../../api/status.js";
import type { ServerError } from "./server-row.js";

/**
 * The last connection error of a pool; retained during reconnection attempts, cleared on success.
 */
export function useLastingError(
  pool: () => PoolStatus | undefined,
): ComputedRef<ServerError | undefined> {
  const last = shallowRef<ServerError>();
  watch(
    pool,
    (now) => {
      if (now?.error != null) last.value = now.error;
      else if (now?.state !== "connecting") last.value = undefined;
    },
    { immediate: true },
  );
  return computed(() => last.value);
}
