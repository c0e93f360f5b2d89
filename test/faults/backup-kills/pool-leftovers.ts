import { HistoryState } from "./history-state.js";
import type { SiteJob } from "./history-state.js";
import type { Records, SimulatedDisks } from "./simulated-disks.js";

type XapiRecord = Readonly<Record<string, unknown>>;

/** What a pool has besides its objects of the start and the snapshots that next backups need. */
export class PoolLeftovers {
  readonly #pool: SimulatedDisks;
  #vms = new Set<string>();
  #vdis = new Set<string>();

  constructor(pool: SimulatedDisks) {
    this.#pool = pool;
  }

  /** What exists now is not left over later. */
  async begin(): Promise<void> {
    const [vms, vdis] = await this.#read();
    this.#vms = new Set(vms.keys());
    this.#vdis = new Set(vdis.keys());
  }

  /** @returns one description for each object that is left over */
  async find(
    state: HistoryState,
    jobs: readonly SiteJob[],
  ): Promise<readonly string[]> {
    const [vms, vdis, tasks] = await this.#read();
    const kept = new Set<string>();
    const counts = new Map<string, number>();
    const left: string[] = [];
    const judge = (ref: string, record: XapiRecord, what: string) => {
      const marks = record["other_config"] as Readonly<Record<string, string>>;
      const backups = (marks["xo:backup:backup"] ?? "")
        .split(",")
        .filter((one) => one !== "");
      const job = jobs.find(({ id }) => id === marks["xo:backup:job"]);
      const key = `${what} of job ${job?.id}, ${String(record["snapshot_of"])}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
      // Of each repository the last backup needs one; they may differ after a failure.
      const isTooMany = counts.get(key)! > (job?.repositories.length ?? 0);
      const isBase = backups.some((one) => state.backups.has(one));
      if (job === undefined || !isBase || isTooMany)
        left.push(
          `${what} ${String(record["name_label"])} ${JSON.stringify(marks)}`,
        );
      kept.add(ref);
    };
    for (const [ref, vm] of vms) {
      const blocked = JSON.stringify(vm["blocked_operations"]);
      if (blocked.includes("xo-server backup")) left.push(`${ref}: ${blocked}`);
      if (this.#vms.has(ref)) continue;
      judge(ref, vm, "snapshot");
      for (const vdi of this.#disksOf(vm, vdis)) kept.add(vdi);
    }
    for (const [ref, vdi] of vdis)
      if (vdi["managed"] === true && !this.#vdis.has(ref) && !kept.has(ref))
        if (vdi["type"] === "cbt_metadata") judge(ref, vdi, "tracking data");
        else left.push(`disk ${String(vdi["name_label"])} (${ref})`);
    for (const task of tasks.values())
      if (task["status"] === "pending")
        left.push(`XAPI task ${String(task["name_label"])}`);
    return left;
  }

  #disksOf(vm: XapiRecord, vdis: Records): readonly string[] {
    const vbds = new Set(vm["VBDs"] as readonly string[]);
    return [...vdis].flatMap(([ref, vdi]) =>
      (vdi["VBDs"] as readonly string[]).some((vbd) => vbds.has(vbd))
        ? [ref]
        : [],
    );
  }

  async #read(): Promise<readonly [Records, Records, Records]> {
    return [
      await this.#pool.records("VM"),
      await this.#pool.records("VDI"),
      await this.#pool.records("task"),
    ];
  }
}
