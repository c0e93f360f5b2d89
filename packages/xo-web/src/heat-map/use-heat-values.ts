import { computed, type ComputedRef, type Ref } from "vue";
import { highest, levelOf, valuesOf, type HeatMetric } from "./heat-scale.js";
import type { FleetLayout } from "./lay-out.js";
import type { FleetTables } from "./fleet-tree.js";

const MAX_HOTTEST = 50;

interface HeatValues {
  /** By position in the table of VMs; NaN: no data. */
  readonly vmValues: ComputedRef<Float64Array>;
  /** Levels of the colour scale, of cells and of host heads. */
  readonly levels: ComputedRef<{
    readonly cells: Uint8Array;
    readonly hosts: Uint8Array;
  }>;
  /** The VMs on the map with the highest values. */
  readonly hottest: ComputedRef<
    readonly { readonly id: string; readonly value: number }[]
  >;
}

/** The values of a metric on the map. */
export function useHeatValues(
  metric: () => HeatMetric,
  tables: Readonly<Ref<FleetTables | undefined>>,
  layout: Readonly<Ref<FleetLayout | undefined>>,
): HeatValues {
  const valuesIn = (kind: "vms" | "hosts") =>
    computed(() => {
      const table = tables.value?.[kind];
      if (table === undefined) return new Float64Array();
      const memory = table.numbers("memory.size");
      return valuesOf(metric(), table.numbers(`now.${metric()}`), memory);
    });
  const vmValues = valuesIn("vms");
  const hostValues = valuesIn("hosts");
  const levels = computed(() => {
    const { vms, hosts } = layout.value ?? { vms: [], hosts: [] };
    const cells = new Uint8Array(vms.length);
    for (let cell = 0; cell < vms.length; cell++)
      cells[cell] = levelOf(metric(), vmValues.value[vms[cell]!] ?? NaN);
    const heads = hosts.map(({ node }) =>
      levelOf(metric(), hostValues.value[node.index] ?? NaN),
    );
    return { cells, hosts: Uint8Array.from(heads) };
  });
  /** By position in the table of VMs: 1 if the VM is on the map. */
  const onMap = computed(() => {
    const { vms } = layout.value ?? { vms: [] };
    const marks = new Uint8Array(tables.value?.vms.length ?? 0);
    for (const index of vms) marks[index] = 1;
    return marks;
  });
  const hottest = computed(() => {
    const { ids } = tables.value?.vms ?? {};
    if (ids === undefined) return [];
    const isShown = (index: number) => onMap.value[index] === 1;
    return highest(vmValues.value, MAX_HOTTEST, isShown).map((index) => ({
      id: ids[index]!,
      value: vmValues.value[index]!,
    }));
  });
  return { vmValues, levels, hottest };
}
