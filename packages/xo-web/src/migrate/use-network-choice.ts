import { computed, ref } from "vue";
import type { ObjectRow } from "../api/object-row.js";
import { proposeNetworks } from "./disk-targets.js";
import type { MigrationData } from "./use-migration-data.js";
import type { TargetChoice } from "./use-target-choice.js";

/** The networks of the target pool that VIFs are connected to, and the one that carries the migration. */
export function useNetworkChoice(
  data: MigrationData,
  { target }: Pick<TargetChoice, "target">,
) {
  const networks = computed(() =>
    data.networks.value.filter(
      ({ $pool }) => $pool === target.value?.host.$pool,
    ),
  );
  const networkNames = computed(() => namesById(data.networks.value));
  const vifs = computed(() =>
    data.vifs.value.map(({ id, $network = "", device, MAC }) => ({
      id,
      device,
      MAC,
      network: networkNames.value.get($network) ?? "",
    })),
  );
  const changed = ref<Readonly<Record<string, string>>>({});
  /** Id of the network by the id of the VIF. */
  const mapping = computed({
    get: () => ({
      ...proposeNetworks(vifs.value, networks.value),
      ...changed.value,
    }),
    set(chosen) {
      changed.value = chosen;
    },
  });
  /** Id of the network that carries the migration; empty: the management network. */
  const network = ref("");
  return { networks, networkNames, vifs, mapping, network };
}

/** Names of objects; the id for one without a name. */
export function namesById(
  rows: readonly ObjectRow[],
): ReadonlyMap<string, string> {
  return new Map(rows.map(({ id, name_label }) => [id, name_label ?? id]));
}
