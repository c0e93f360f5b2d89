import { computed, watch, type ComputedRef, type Ref } from "vue";
import { useObject } from "../live/use-object.js";
import { useObjects } from "../live/use-window.js";
import { fill } from "../locale/messages.js";
import { useLocale } from "../locale/use-locale.js";
import { freeOf } from "../migrate/disk-targets.js";
import type { Host, Pool, Sr } from "../objects/infrastructure.js";

/** A choice of a drop-down list. */
interface Choice {
  readonly value: string;
  readonly label: string;
}

/** Where VMs are restored, as chosen in a form. */
interface PlaceEntries {
  pool: string;
  sr: string;
}

interface Places {
  readonly poolOptions: ComputedRef<readonly Choice[]>;
  /** SRs for disks in the pool, with the most free space first. */
  readonly srs: ComputedRef<readonly Sr[]>;
  readonly srOptions: ComputedRef<readonly Choice[]>;
}

/**
 * Pools and SRs to choose from; the entries get a first choice.
 * @param entries reactive
 * @param ownPool the pool to choose first
 * @param onPool called when the SR was chosen again, as the pool has changed
 */
export function useRestoreTargets(
  entries: PlaceEntries,
  ownPool: string | undefined,
  onPool: () => void = () => undefined,
): Places {
  const { text, formats } = useLocale();
  const { rows: pools } = useObjects<Pool>(() => ({
    type: "pool",
    fields: ["id", "name_label", "default_SR"],
    sort: [{ by: "name_label" }],
  }));
  const srs = useDiskSrs(() => entries.pool);
  const hosts = useHosts(() => entries.pool);
  const { object: pool } = useObject<Pool>(
    "pool",
    () => entries.pool || undefined,
    ["id", "default_SR"],
  );

  // The pool that is preferred, else the first.
  watch(
    pools,
    (all) => {
      if (entries.pool !== "" || all.length === 0) return;
      const own = all.find(({ id }) => id === ownPool);
      entries.pool = (own ?? all[0]!).id;
    },
    { immediate: true },
  );
  watch(
    () => entries.pool,
    () => {
      entries.sr = "";
    },
  );
  // The default SR of the pool, else the one with the most free space.
  watch([srs, pool], ([found]) => {
    if (found.length === 0 || found.some(({ id }) => id === entries.sr)) return;
    const usual = found.find(({ id }) => id === pool.value?.default_SR);
    entries.sr = (usual ?? found[0])?.id ?? "";
    onPool();
  });

  return {
    poolOptions: computed(() => pools.value.map(poolChoice)),
    srs,
    srOptions: computed(() =>
      srs.value.map((sr) => ({
        value: sr.id,
        label: fill(text.value.migrate.srFree, {
          name: srName(sr, hosts.value),
          size: formats.value.size(freeOf(sr)),
        }),
      })),
    ),
  };
}

function poolChoice({ id, name_label }: Pool): Choice {
  return { value: id, label: name_label || id.slice(0, 8) };
}

/** The SRs for disks of a pool, with the most free space first; none of the id "". */
function useDiskSrs(pool: () => string): ComputedRef<readonly Sr[]> {
  const { rows } = useObjects<Sr>(() =>
    pool() === ""
      ? undefined
      : {
          type: "SR",
          filter: `$pool:"${pool()}"`,
          fields: [
            "id",
            "name_label",
            "$pool",
            "content_type",
            "size",
            "physical_usage",
            "shared",
            "inMaintenanceMode",
            "$container",
          ],
          limit: 1_000,
        },
  );
  return computed(() =>
    rows.value
      .filter(
        ({ content_type, size = 0 }) => content_type !== "iso" && size > 0,
      )
      .toSorted((a, b) => freeOf(b) - freeOf(a)),
  );
}

/** The hosts of a pool; none of the id "". */
function useHosts(pool: () => string): Readonly<Ref<readonly Host[]>> {
  const { rows } = useObjects<Host>(() =>
    pool() === ""
      ? undefined
      : {
          type: "host",
          filter: `$pool:"${pool()}"`,
          fields: ["id", "name_label"],
        },
  );
  return rows;
}

/** Local SRs of all hosts often have the same name. */
function srName(
  { id, name_label, shared, $container }: Sr,
  hosts: readonly Host[],
): string {
  const name = name_label ?? id;
  const host = hosts.find((one) => one.id === $container)?.name_label;
  return shared === true || !host ? name : `${name} (${host})`;
}
