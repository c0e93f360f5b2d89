import type { Json } from "@xo-server/kit";

/** A resource set as `resourceSet.getAll` returns it. */
export interface ResourceSet {
  readonly id: string;
  readonly name: string;
  /** Ids of users and groups. */
  readonly subjects: readonly string[];
  /** Ids of templates, SRs and networks. */
  readonly objects: readonly string[];
  /** By name; sizes in bytes. */
  readonly limits: Readonly<Record<string, Limit>>;
  readonly ipPools: readonly string[];
  readonly shareByDefault: boolean;
}

interface Limit {
  readonly total: number;
  readonly usage: number;
  readonly available: number;
}

export const limitNames = [
  "vms",
  "cpus",
  "memory",
  "disk",
  "snapshots",
] as const;
type LimitName = (typeof limitNames)[number];

/** Limits in bytes are typed in GiB. */
const factors: Readonly<Record<LimitName, number>> = {
  vms: 1,
  cpus: 1,
  memory: 2 ** 30,
  disk: 2 ** 30,
  snapshots: 1,
};

/** Whether a quota is an amount of bytes, not a count. */
export const isSize = (name: LimitName): boolean => factors[name] > 1;

/** Values of the form fields. */
interface SetEntries {
  name: string;
  subjects: readonly string[];
  objects: readonly string[];
  ipPools: readonly string[];
  /** Empty: not limited. */
  limits: Record<LimitName, string>;
  shareByDefault: boolean;
}

/** Sizes are entered in GiB. */
export function toEntries(set: ResourceSet | undefined): SetEntries {
  const limits = limitNames.map((name) => {
    const limit = set?.limits[name];
    const typed = limit === undefined ? "" : limit.total / factors[name];
    return [name, String(typed)] as const;
  });
  return {
    name: set?.name ?? "",
    subjects: set?.subjects ?? [],
    objects: set?.objects ?? [],
    ipPools: set?.ipPools ?? [],
    limits: Object.fromEntries(limits) as Record<LimitName, string>,
    shareByDefault: set?.shareByDefault ?? false,
  };
}

/** Names of the wrong fields. */
export function inputErrorsOf(entries: SetEntries): ReadonlySet<string> {
  const wrong = limitNames.filter((name) => {
    const typed = entries.limits[name].trim().replace(",", ".");
    const isNumber = typed !== "" && Number(typed) >= 0;
    const isWhole = isSize(name) || Number.isInteger(Number(typed));
    return typed !== "" && !(isNumber && isWhole);
  });
  return new Set(entries.name.trim() === "" ? ["name", ...wrong] : wrong);
}

/**
 * Parameters of `resourceSet.create` and `resourceSet.set`. Limits of other
 * clients, which have no field, are kept.
 */
export function toParameters(
  entries: SetEntries,
  before?: ResourceSet,
): Readonly<Record<string, Json>> {
  const limits: Record<string, number> = {};
  for (const [name, { total }] of Object.entries(before?.limits ?? {}))
    if (!Object.hasOwn(factors, name)) limits[name] = total;
  for (const name of limitNames) {
    const typed = entries.limits[name].trim().replace(",", ".");
    if (typed !== "") limits[name] = Math.round(Number(typed) * factors[name]);
  }
  return {
    name: entries.name.trim(),
    subjects: [...entries.subjects],
    objects: [...entries.objects],
    ipPools: [...entries.ipPools],
    limits,
    shareByDefault: entries.shareByDefault,
  };
}
