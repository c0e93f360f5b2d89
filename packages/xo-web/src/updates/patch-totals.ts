/** Answer of `pool.getPatchState`. */
export interface PatchState {
  readonly hosts: readonly {
    readonly host: string;
    readonly version: string;
    /** Absent: the host has not been queried yet. */
    readonly missing?: number;
    readonly security?: number;
  }[];
  readonly differ: boolean;
}

/** Missing updates of a pool: those of the host with the most. */
export interface PatchTotals {
  /** Undefined: no host has been queried yet. */
  readonly missing: number | undefined;
  readonly security: number | undefined;
  /** Of the hosts, if they do not differ. */
  readonly version: string | undefined;
  readonly differ: boolean;
}

/** Of the host that lacks most; undefined: not known yet. */
export function toTotals({ hosts, differ }: PatchState): PatchTotals {
  const most = (key: "missing" | "security") => {
    const counts = hosts.flatMap((host) => host[key] ?? []);
    return counts.length === 0 ? undefined : Math.max(...counts);
  };
  return {
    missing: most("missing"),
    security: most("security"),
    version: hosts[0]?.version,
    differ,
  };
}
