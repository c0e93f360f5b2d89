import { onScopeDispose, shallowRef, watch, type ShallowRef } from "vue";
import { toFleet, type FleetScope, type FleetTables } from "./fleet-tree.js";
import type { HeatSize } from "./heat-scale.js";
import { inSlices } from "./in-slices.js";
import { layOut, type FleetLayout, type LayoutBox } from "./lay-out.js";

interface LayoutRequest {
  readonly tables: FleetTables;
  readonly scope: FleetScope;
  readonly withHalted: boolean;
  readonly size: HeatSize;
  readonly box: LayoutBox;
}

/** The properties that positions depend on: if only metrics change, nothing moves. */
const STATIC = ["power_state", "$container", "$pool"];

/** Layout of the map, computed in slices when objects were added, removed or resized. */
export function useFleetLayout(
  request: () => LayoutRequest | undefined,
): ShallowRef<FleetLayout | undefined> {
  const layout = shallowRef<FleetLayout>();
  let current: object = {};

  watch(
    () => {
      const requested = request();
      return requested === undefined ? "" : keyOf(requested);
    },
    async (key) => {
      const requested = request();
      const revision = (current = {});
      const isCurrent = () => current === revision;
      if (key === "" || requested === undefined) {
        layout.value = undefined;
        return;
      }
      const { tables, scope, withHalted, size, box } = requested;
      const fleet = await inSlices(
        toFleet(tables, scope, withHalted),
        isCurrent,
      );
      if (fleet === undefined) return;
      const steps = layOut(fleet, box, sizeOf(tables, size));
      const created = await inSlices(steps, isCurrent);
      if (created !== undefined) layout.value = created;
    },
    { immediate: true },
  );
  onScopeDispose(() => {
    current = {};
  });
  return layout;
}

function keyOf({
  tables,
  scope,
  withHalted,
  size,
  box,
}: LayoutRequest): string {
  const paths = [...STATIC, ...(size === "equal" ? [] : [pathOf(size)])];
  return JSON.stringify([
    tables.vms.stampOf(paths),
    tables.hosts.stampOf(["name_label", "$pool"]),
    tables.pools.stampOf(["name_label"]),
    scope,
    withHalted,
    size,
    box,
  ]);
}

function pathOf(size: "vcpus" | "memory"): string {
  return size === "vcpus" ? "CPUs.number" : "memory.size";
}

function sizeOf({ vms }: FleetTables, size: HeatSize): (vm: number) => number {
  if (size === "equal") return () => 1;
  const numbers = vms.numbers(pathOf(size));
  return (vm) => numbers[vm] || 0;
}
