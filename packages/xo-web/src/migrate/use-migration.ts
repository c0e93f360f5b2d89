import { computed, ref } from "vue";
import type { Plan } from "../actions/plan/action.js";
import type { ObjectRow } from "../api/object-row.js";
import { planMigration } from "./migration-order.js";
import { useDiskChoice } from "./use-disk-choice.js";
import { useMigrationData, type MigrationData } from "./use-migration-data.js";
import { namesById, useNetworkChoice } from "./use-network-choice.js";
import { useTargetChoice, type TargetChoice } from "./use-target-choice.js";

/** The choices of a migration: host, SRs and networks, each with a proposal. */
export function useMigration(objects: readonly ObjectRow[]) {
  const ownPools = [...new Set(objects.map(({ $pool }) => $pool ?? ""))];
  const otherPools = ref(false);
  const movesAllDisks = ref(
    objects.every(({ power_state }) => power_state !== "Running"),
  );
  const data = useMigrationData(
    objects.map(({ id }) => id),
    () => (otherPools.value ? data.pools.value.map(({ id }) => id) : ownPools),
  );

  const targetChoice = useTargetChoice(data, movesAllDisks);
  const { target, chosen } = targetChoice;
  const isOtherPool = computed(() => target.value?.isOtherPool === true);
  const movesDisks = computed(
    () => target.value?.movesDisks === true || movesAllDisks.value,
  );
  const diskChoice = useDiskChoice(data, targetChoice, movesDisks);
  const { diskSrs, lacking } = diskChoice;
  const networkChoice = useNetworkChoice(data, targetChoice);
  const { mapping, network } = networkChoice;
  const poolNames = computed(() => namesById(data.pools.value));

  /** What the migration transfers, in bytes. */
  const moved = computed(() => {
    const disks = data.disks.value.filter(
      ({ id, $SR }) => movesDisks.value && diskSrs.value[id] !== $SR,
    );
    return {
      memory: runningMemory(data),
      disks: disks.reduce((sum, { usage = 0 }) => sum + usage, 0),
      count: disks.length,
    };
  });
  const isReady = computed(
    () =>
      (isOtherPool.value ||
        changesHost(data, targetChoice) ||
        moved.value.count > 0) &&
      target.value !== undefined &&
      target.value.refusal === undefined &&
      lacking.value.size === 0,
  );

  /** @returns undefined: the choices are not possible */
  function plan(): Plan | undefined {
    if (!isReady.value || chosen.value === undefined) return undefined;
    return planMigration(
      data.vms.value,
      {
        host: chosen.value,
        movesDisks: movesDisks.value,
        isOtherPool: isOtherPool.value,
        srs: diskSrs.value,
        networks: mapping.value,
        network: network.value || undefined,
      },
      { vbds: data.vbds.value, vifs: data.vifs.value },
    );
  }

  return {
    ...targetChoice,
    ...diskChoice,
    ...networkChoice,
    data,
    otherPools,
    movesAllDisks,
    isOtherPool,
    movesDisks,
    poolNames,
    moved,
    isReady,
    plan,
  };
}

function runningMemory({ vms }: MigrationData): number {
  return vms.value.reduce(
    (sum, { power_state, memory }) =>
      sum + (power_state === "Running" ? memory.size : 0),
    0,
  );
}

/** A halted VM has no host: choosing another host of its pool changes nothing. */
function changesHost(
  { vms }: MigrationData,
  { target }: Pick<TargetChoice, "target">,
): boolean {
  return vms.value.some(
    ({ $container, power_state }) =>
      power_state === "Running" && $container !== target.value?.host.id,
  );
}
