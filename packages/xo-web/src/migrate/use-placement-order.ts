import { shallowRef, type ShallowRef } from "vue";
import type { VmPlacement } from "@xo-server/placement";
import { useServer } from "../live/use-server.js";

/** A proposal that comes later would move the rows under the pointer. */
const MAX_WAIT_MS = 3_000;

/**
 * Hosts in the order of `placement.placeVm`, best first, so that the migration
 * proposes the host that the page of the VM recommends.
 * @returns undefined: not known yet; empty: several VMs, or the server did not answer in time
 */
export function usePlacementOrder(
  vms: readonly string[],
): ShallowRef<readonly string[] | undefined> {
  const order = shallowRef<readonly string[]>();
  const [vm] = vms;
  if (vms.length !== 1 || vm === undefined) {
    order.value = [];
    return order;
  }
  const { call } = useServer();
  const timer = setTimeout(() => {
    order.value ??= [];
  }, MAX_WAIT_MS);
  call("placement.placeVm", { vm })
    .then(
      (answer) => {
        const { candidates } = answer as unknown as VmPlacement;
        order.value ??= candidates.map(({ host }) => host);
      },
      // Without a plan, or the right to it, the hosts are ranked by free resources.
      () => {
        order.value ??= [];
      },
    )
    .finally(() => {
      clearTimeout(timer);
    });
  return order;
}
