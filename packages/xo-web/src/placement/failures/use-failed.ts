import { computed, shallowRef, type ComputedRef } from "vue";
import { useRoute, useRouter } from "vue-router";
import { readFailed, writeFailed } from "./failed-hosts.js";

/** The hosts that fail, in the page's address. */
export function useFailed(): {
  named: ComputedRef<readonly string[]>;
  fail: (ids: readonly string[]) => void;
} {
  const route = useRoute();
  const router = useRouter();
  /** What the address will say when the router has done its work. */
  const wanted = shallowRef<readonly string[]>();

  async function write(ids: readonly string[]): Promise<void> {
    wanted.value = ids;
    const query = { ...route.query, failed: writeFailed(ids) };
    await router.replace({ query });
    if (wanted.value === ids) wanted.value = undefined;
  }
  return {
    named: computed(() => wanted.value ?? readFailed(route.query["failed"])),
    fail(ids) {
      void write(ids);
    },
  };
}
