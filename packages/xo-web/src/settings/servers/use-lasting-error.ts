import { computed, shallowRef, watch, type ComputedRef } from "vue";
import type { PoolStatus } from "../../api/status.js";
import type { ServerError } from "./server-row.js";

/** Why a pool is away, from the first failed try until it is there: also while it is tried again. */
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
