import { computed, ref, type ComputedRef, type WritableComputedRef } from "vue";
import type { Sr } from "../objects/infrastructure.js";
import { diskTargets, overfull, proposeSrs } from "./disk-targets.js";
import type { MigrationData } from "./use-migration-data.js";
import type { TargetChoice } from "./use-target-choice.js";

interface DiskChoice {
  /** SRs that the target host is connected to. */
  readonly srs: ComputedRef<readonly Sr[]>;
  /** Id of the SR by the id of the disk. */
  readonly diskSrs: WritableComputedRef<Readonly<Record<string, string>>>;
  /** Missing bytes by the id of the SR. */
  readonly lacking: ComputedRef<ReadonlyMap<string, number>>;
}

/** The SRs that the disks of a storage migration go to. */
export function useDiskChoice(
  data: MigrationData,
  { chosen, target }: TargetChoice,
  movesDisks: ComputedRef<boolean>,
): DiskChoice {
  const srs = computed(() =>
    diskTargets(
      data.srs.value,
      data.context.value.srsOf.get(chosen.value ?? "") ?? new Set(),
    ),
  );
  const defaultSr = computed(
    () =>
      data.pools.value.find(({ id }) => id === target.value?.host.$pool)
        ?.default_SR,
  );
  const changed = ref<Readonly<Record<string, string>>>({});
  const diskSrs = computed({
    get() {
      const ids = new Set(srs.value.map(({ id }) => id));
      const kept = Object.entries(changed.value).filter(([, sr]) =>
        ids.has(sr),
      );
      return {
        ...proposeSrs(data.disks.value, srs.value, defaultSr.value),
        ...Object.fromEntries(kept),
      };
    },
    set(srsByDisk) {
      changed.value = srsByDisk;
    },
  });
  const lacking = computed(() =>
    movesDisks.value
      ? overfull(data.disks.value, diskSrs.value, srs.value)
      : new Map<string, number>(),
  );
  return { srs, diskSrs, lacking };
}
