import type { Catalog, ViewObject } from "@xo-server/inventory";
import type { BackupBody } from "../../jobs/job-body.js";
import type { Demand } from "./capacity.js";

/** Maximum number of concurrent backups of VMs, unless the job has other limits. */
const DEFAULTS = { host: 4, sr: 4, pool: 8, repository: 8 } as const;

type Limits = Pick<
  BackupBody,
  | "repositories"
  | "concurrencyPerHost"
  | "concurrencyPerSr"
  | "concurrencyPerPool"
  | "concurrencyPerRepository"
>;

/** The host, SRs, pool and repositories that the backup of a VM uses. */
export function demandOf(
  catalog: Pick<Catalog, "get">,
  vm: ViewObject | undefined,
  body: Limits,
): Demand {
  const demand = new Map<string, number>();
  for (const id of body.repositories)
    demand.set(
      `repository ${id}`,
      body.concurrencyPerRepository ?? DEFAULTS.repository,
    );
  if (vm === undefined) return demand;
  const pool = String(vm["$pool"]);
  const container = String(vm["$container"]);
  demand.set(`pool ${pool}`, body.concurrencyPerPool ?? DEFAULTS.pool);
  if (container !== pool)
    demand.set(`host ${container}`, body.concurrencyPerHost ?? DEFAULTS.host);
  for (const sr of srsOf(catalog, vm))
    demand.set(`SR ${sr}`, body.concurrencyPerSr ?? DEFAULTS.sr);
  return demand;
}

function srsOf(catalog: Pick<Catalog, "get">, vm: ViewObject): Set<string> {
  const srs = new Set<string>();
  for (const { object: vbd } of all(catalog, vm["$VBDs"]))
    for (const { object: vdi } of all(catalog, [vbd["VDI"]]))
      if (vbd["is_cd_drive"] !== true) srs.add(String(vdi["$SR"]));
  return srs;
}

function all(
  catalog: Pick<Catalog, "get">,
  ids: unknown,
): { readonly object: ViewObject }[] {
  return (Array.isArray(ids) ? (ids as unknown[]) : []).flatMap((id) => {
    const entry = typeof id === "string" ? catalog.get(id) : undefined;
    return entry === undefined
      ? []
      : [{ object: JSON.parse(entry.json.toString()) as ViewObject }];
  });
}
