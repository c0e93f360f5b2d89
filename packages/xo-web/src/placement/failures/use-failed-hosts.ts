import { computed, shallowRef, type ComputedRef } from "vue";
import { useRoute, useRouter } from "vue-router";
import { readFailed, writeFailed } from "./failed-hosts.js";

/** The failed hosts, stored in the address of the page. */
export function useFailedHosts(): {
  named: ComputedRef<readonly string[]>;
  fail: (ids: readonly string[]) => void;
} {
  const route = useRoute();
  const router = useRouter();
  /** The hosts of a navigation that is not finished. */
  const pending = shallowRef<readonly string[]>();

  async function write(ids: readonly string[]): Promise<void> {
    pending.value = ids;
    const query = { ...route.query, failed: writeFailed(ids) };
    await router.replace({ query });
    if (pending.value === ids) pending.value = undefined;
  }
  return {
    named: computed(() => pending.value ?? readFailed(route.query["failed"])),
    fail(ids) {
      void write(ids);
    },
  };
}
