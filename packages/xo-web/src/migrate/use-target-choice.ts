import {
  computed,
  ref,
  shallowRef,
  watchEffect,
  type ComputedRef,
  type Ref,
  type WritableComputedRef,
} from "vue";
import { rankHosts, type MigrationTarget } from "./rank-hosts.js";
import type { MigrationData } from "./use-migration-data.js";

export interface TargetChoice {
  /** In an order that stays while figures change, so that a click does not hit another host. */
  readonly targets: ComputedRef<readonly MigrationTarget[]>;
  /** Id of the host that is proposed. */
  readonly proposed: Readonly<Ref<string | undefined>>;
  /** Id of the chosen host; the proposed one until the user chooses. */
  readonly chosen: WritableComputedRef<string | undefined>;
  readonly target: ComputedRef<MigrationTarget | undefined>;
}

/** The target host of a migration. */
export function useTargetChoice(
  data: MigrationData,
  movesAllDisks: Readonly<Ref<boolean>>,
): TargetChoice {
  const ranked = computed(() =>
    rankHosts(data.vms.value, data.context.value, {
      movesAllDisks: movesAllDisks.value,
    }),
  );
  const positions = shallowRef<ReadonlyMap<string, number>>(new Map());
  watchEffect(() => {
    const isKnown = ranked.value.every(({ host }) =>
      positions.value.has(host.id),
    );
    if (data.isReady.value && !isKnown)
      positions.value = new Map(
        ranked.value.map(({ host }, i) => [host.id, i]),
      );
  });
  const targets = computed(() => {
    const positionOf = ({ host }: MigrationTarget) =>
      positions.value.get(host.id) ?? Infinity;
    return ranked.value.toSorted((a, b) => positionOf(a) - positionOf(b));
  });

  const proposed = ref<string>();
  watchEffect(() => {
    const isStillPossible = targets.value.some(
      ({ host, refusal }) => host.id === proposed.value && !refusal,
    );
    if (!data.isReady.value || isStillPossible) return;
    const [best] = ranked.value;
    proposed.value = best?.refusal === undefined ? best?.host.id : undefined;
  });
  const picked = ref<string>();
  const chosen = computed({
    get: () => picked.value ?? proposed.value,
    set: (id) => {
      picked.value = id;
    },
  });
  const target = computed(() =>
    targets.value.find(({ host }) => host.id === chosen.value),
  );
  return { targets, proposed, chosen, target };
}
