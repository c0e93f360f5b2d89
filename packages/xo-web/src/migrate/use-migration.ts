import { computed, ref, shallowRef, watchEffect } from "vue";
import type { Plan } from "../actions/plan/action.js";
import type { ObjectRow } from "../api/object-row.js";
import {
  diskTargets,
  overfull,
  proposeNetworks,
  proposeSrs,
} from "./disk-targets.js";
import { planMigration } from "./migration-order.js";
import { rankHosts, type Target } from "./rank-hosts.js";
import { useSurroundings } from "./use-surroundings.js";

/** What is chosen for a migration, with what is proposed until then. */
export function useMigration(objects: readonly ObjectRow[]) {
  const own = [...new Set(objects.map(({ $pool }) => $pool ?? ""))];
  const otherPools = ref(false);
  const wantsDisksMoved = ref(
    objects.every(({ power_state }) => power_state !== "Running"),
  );
  const around = useSurroundings(
    objects.map(({ id }) => id),
    () => (otherPools.value ? around.pools.value.map(({ id }) => id) : own),
  );

  const ranked = computed(() =>
    rankHosts(around.vms.value, around.surroundings.value, {
      wantsDisksMoved: wantsDisksMoved.value,
    }),
  );
  /** Figures change, places do not: who chooses a host must not hit another. */
  const places = shallowRef<ReadonlyMap<string, number>>(new Map());
  watchEffect(() => {
    const isKnown = ranked.value.every(({ host }) => places.value.has(host.id));
    if (around.isReady.value && !isKnown)
      places.value = new Map(ranked.value.map(({ host }, i) => [host.id, i]));
  });
  const targets = computed(() => {
    const placeOf = ({ host }: Target) => places.value.get(host.id) ?? Infinity;
    return ranked.value.toSorted((a, b) => placeOf(a) - placeOf(b));
  });
  const best = computed(() => {
    const [first] = ranked.value;
    return first?.refusal === undefined ? first?.host.id : undefined;
  });
  const picked = ref<string>();
  /** What was chosen stays so while figures change; the proposal holds until then. */
  const chosen = computed({
    get: () => picked.value ?? proposed.value,
    set: (id) => {
      picked.value = id;
    },
  });
  const proposed = ref<string>();
  watchEffect(() => {
    const isStill = targets.value.some(
      ({ host, refusal }) => host.id === proposed.value && !refusal,
    );
    if (around.isReady.value && !isStill) proposed.value = best.value;
  });
  const target = computed(() =>
    targets.value.find(({ host }) => host.id === chosen.value),
  );
  const isOtherPool = computed(() => target.value?.isOtherPool === true);
  const movesDisks = computed(
    () => target.value?.movesDisks === true || wantsDisksMoved.value,
  );

  const srs = computed(() =>
    diskTargets(
      around.srs.value,
      around.surroundings.value.srsOf.get(chosen.value ?? "") ?? new Set(),
    ),
  );
  const defaultSr = computed(
    () =>
      around.pools.value.find(({ id }) => id === target.value?.host.$pool)
        ?.default_SR,
  );
  const changedSrs = ref<Readonly<Record<string, string>>>({});
  const diskPlaces = computed({
    get() {
      const ids = new Set(srs.value.map(({ id }) => id));
      const still = Object.entries(changedSrs.value).filter(([, sr]) =>
        ids.has(sr),
      );
      const { disks } = around;
      const first = proposeSrs(disks.value, srs.value, defaultSr.value);
      return { ...first, ...Object.fromEntries(still) };
    },
    set(chosen) {
      changedSrs.value = chosen;
    },
  });
  const lacking = computed(() =>
    movesDisks.value
      ? overfull(around.disks.value, diskPlaces.value, srs.value)
      : new Map<string, number>(),
  );

  const networks = computed(() =>
    around.networks.value.filter(
      ({ $pool }) => $pool === target.value?.host.$pool,
    ),
  );
  const networkNames = computed(
    () =>
      new Map(
        around.networks.value.map((one) => [one.id, one.name_label ?? one.id]),
      ),
  );
  const poolNames = computed(
    () =>
      new Map(
        around.pools.value.map((one) => [one.id, one.name_label ?? one.id]),
      ),
  );
  const vifs = computed(() =>
    around.vifs.value.map(({ id, $network = "", device, MAC }) => ({
      id,
      device,
      MAC,
      network: networkNames.value.get($network) ?? "",
    })),
  );
  const changedNetworks = ref<Readonly<Record<string, string>>>({});
  const mapping = computed({
    get: () => ({
      ...proposeNetworks(vifs.value, networks.value),
      ...changedNetworks.value,
    }),
    set(chosen) {
      changedNetworks.value = chosen;
    },
  });
  const network = ref("");

  const moved = computed(() => {
    const memory = around.vms.value.reduce(
      (sum, vm) => sum + (vm.power_state === "Running" ? vm.memory.size : 0),
      0,
    );
    const going = around.disks.value.filter(
      ({ id, $SR }) => movesDisks.value && diskPlaces.value[id] !== $SR,
    );
    const disks = going.reduce((sum, { usage = 0 }) => sum + usage, 0);
    return { memory, disks, count: going.length };
  });
  /** Somewhere else than now: a halted VM is at home on all hosts of its pool. */
  const changesSomething = computed(() => {
    const { host } = target.value ?? {};
    const stays = around.vms.value.every(
      ({ $container, power_state }) =>
        power_state !== "Running" || $container === host?.id,
    );
    return isOtherPool.value || !stays || moved.value.count > 0;
  });
  const isReady = computed(
    () =>
      changesSomething.value &&
      target.value !== undefined &&
      target.value.refusal === undefined &&
      lacking.value.size === 0,
  );

  /** @returns undefined: it cannot be done so */
  function plan(): Plan | undefined {
    if (!isReady.value || chosen.value === undefined) return undefined;
    return planMigration(
      around.vms.value,
      {
        host: chosen.value,
        movesDisks: movesDisks.value,
        isOtherPool: isOtherPool.value,
        srs: diskPlaces.value,
        networks: mapping.value,
        network: network.value || undefined,
      },
      { vbds: around.vbds.value, vifs: around.vifs.value },
    );
  }

  return {
    around,
    otherPools,
    wantsDisksMoved,
    targets,
    target,
    proposed,
    chosen,
    isOtherPool,
    movesDisks,
    srs,
    diskPlaces,
    lacking,
    networks,
    networkNames,
    poolNames,
    vifs,
    mapping,
    network,
    moved,
    isReady,
    plan,
  };
}
