import { shallowRef, watch, type ShallowRef } from "vue";
import { useServer } from "../../live/use-server.js";
import type { StuckVm } from "../plan/evacuation-refusal.js";

interface EvacuationCheck {
  /** VMs that cannot be migrated to another host; empty unless `ready`. */
  readonly value: Readonly<ShallowRef<readonly StuckVm[]>>;
  readonly state: Readonly<ShallowRef<"checking" | "ready" | "unchecked">>;
}

/** Asks the server which VMs prevent the evacuation of hosts. `unchecked`: it did not answer. */
export function useEvacuationCheck(
  hosts: () => readonly string[],
): EvacuationCheck {
  const { call } = useServer();
  const value = shallowRef<readonly StuckVm[]>([]);
  const state = shallowRef<"checking" | "ready" | "unchecked">("checking");
  watch(
    () => hosts().join(" "),
    async (_, __, onCleanup) => {
      let isOutdated = false;
      onCleanup(() => (isOutdated = true));
      value.value = [];
      state.value = "checking";
      const method = "host.listVmsPreventingEvacuation";
      try {
        const lists = await Promise.all(
          hosts().map((id) => call(method, { id })),
        );
        if (isOutdated) return;
        value.value = lists.flat() as unknown as readonly StuckVm[];
        state.value = "ready";
      } catch {
        // The request itself reports errors of the pool; here it only stays unchecked.
        if (!isOutdated) state.value = "unchecked";
      }
    },
    { immediate: true },
  );
  return { value, state };
}
