import type { WallClock } from "@xo-server/kit";
import type { Queries } from "@xo-server/inventory";
import type { Store } from "@xo-server/store";
import type { Xapi } from "@xo-server/xen-api";
import type { Contention } from "../../cluster/contention.js";
import type { Leases } from "../../cluster/leases.js";
import type { Logger } from "../../log/logger.js";
import type { PoolObjects } from "../../objects/pool-objects.js";
import { isSet } from "../../vms/xapi-records.js";
import { blockingRun, unblockMigration } from "./blocked-operations.js";
import { readMarks, runOfName, type Marks } from "./marks.js";
import { deleteDisk, deleteSnapshot, readIfThere } from "./vm-snapshots.js";
import { read, textOf, type XapiRecord } from "./xapi-objects.js";

interface LeftoversOptions {
  readonly store: Pick<Store, "jobs" | "jobRuns" | "backupRepositories">;
  readonly queries: Pick<Queries, "page">;
  readonly objects: PoolObjects;
  /** With several servers on one database, one of them searches. Default: this one. */
  readonly leases?: Pick<Leases, "compete">;
  readonly clock: WallClock;
  readonly logger: Pick<Logger, "info" | "warn">;
  /** Removes leftovers of restore tests. */
  readonly sweepTests: () => Promise<void>;
}

/** An object of a list. */
interface Row {
  readonly id: string;
  readonly name_label?: string;
  readonly uuid?: string;
  readonly other?: Readonly<Record<string, string>>;
  readonly other_config?: Readonly<Record<string, string>>;
  readonly blockedOperations?: Readonly<Record<string, string>>;
}

/** Interval of the search, in ms: pools may be disconnected when the server starts. */
const SWEEP_MS = 600_000;
const PAGE = 500;
/** Subject of the lease on the search. */
const LEFTOVERS = "backup-leftovers";

/**
 * Removes leftovers of ended runs from pools. A run normally continues after a
 * restart and cleans up itself, unless its task was lost, its user was deleted, or
 * the pool did not answer at its end.
 */
export class Leftovers {
  readonly #options: LeftoversOptions;
  #contention: Contention | undefined;
  #timer: unknown;
  #sweeping: Promise<void> | undefined;
  #isStopped = false;

  constructor(options: LeftoversOptions) {
    this.#options = options;
  }

  /** Searches now, and every 10 minutes. */
  start(): void {
    if (this.#isStopped) return;
    const { clock, logger } = this.#options;
    this.#contention ??= this.#options.leases?.compete(LEFTOVERS);
    this.#sweeping = this.#sweepIfOurs()
      .catch((error: unknown) => {
        logger.warn("leftovers of backups could not be listed", { error });
      })
      .finally(() => {
        if (this.#isStopped) return;
        this.#timer = clock.setTimeout(() => {
          this.start();
        }, SWEEP_MS);
      });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#options.clock.clearTimeout(this.#timer);
    await this.#sweeping;
    await this.#contention?.stop();
  }

  async #sweepIfOurs(): Promise<void> {
    await this.#contention?.hasTried;
    const isOurs =
      this.#contention?.lease?.isValid ?? this.#contention === undefined;
    if (isOurs) await this.sweep();
  }

  /**
   * Does nothing on a server without backups: there are no leftovers, and listing
   * objects would fill every list at its start.
   */
  async sweep(): Promise<void> {
    const { jobRuns, backupRepositories } = this.#options.store;
    const { runs } = await jobRuns.list({ limit: 1 });
    if (runs.length === 0 && [...backupRepositories.list()].length === 0)
      return;
    for (const row of await this.#list("VM-snapshot", {
      filter: "name_label:/^Backup .*\\(run [0-9a-zA-Z-]+\\)$/",
      fields: ["name_label", "uuid", "other"],
    }))
      await this.#try(row.id, () => this.#sweepSnapshot(row));
    for (const row of await this.#list("VDI-snapshot", {
      filter: "VDI_type:/^cbt_metadata$/",
      fields: ["uuid", "other_config"],
    }))
      await this.#try(row.id, () => this.#sweepDisk(row));
    for (const row of await this.#list("VM", {
      filter: "blockedOperations.migrate_send:/^xo-server backup/",
      fields: ["blockedOperations"],
    }))
      await this.#try(row.id, () => this.#sweepBlock(row));
    if (!this.#isStopped) await this.#options.sweepTests();
  }

  async #sweepSnapshot({ id, uuid = id, name_label, other }: Row) {
    const marks = readMarks(other ?? {}, uuid);
    const run = marks?.run ?? runOfName(name_label ?? "");
    if (run === undefined || !(await this.#isLeft(run, marks))) return;
    const { xapi, ref } = this.#options.objects.get(id, "VM-snapshot");
    await deleteSnapshot(xapi, ref);
    this.#options.logger.info(`snapshot ${id} of backup run ${run} is deleted`);
  }

  /**
   * A snapshot of a disk that is only kept for changed block tracking, while its job was deleted, or the disk: with its VM, or
   * because another client has migrated it.
   */
  async #sweepDisk({ id, uuid = id, other_config }: Row) {
    const marks = readMarks(other_config ?? {}, uuid);
    if (marks === undefined || !(await this.#isOver(marks.run))) return;
    const { xapi, ref } = this.#options.objects.get(id, "VDI-snapshot");
    const isLeft =
      (await this.#isLeft(marks.run, marks)) ||
      !(await hasDisk(xapi, await read(xapi, "VDI", ref)));
    if (!isLeft) return;
    await deleteDisk(xapi, ref);
    this.#options.logger.info(
      `tracking data ${id} of backup run ${marks.run} is deleted`,
    );
  }

  async #sweepBlock({ id, blockedOperations }: Row) {
    const run = blockingRun(blockedOperations?.["migrate_send"]);
    if (run === undefined || !(await this.#isOver(run))) return;
    const { xapi, ref } = this.#options.objects.get(id, "VM");
    await unblockMigration(xapi, ref, (one) => one === run);
    this.#options.logger.info(`migration of VM ${id} is unblocked`);
  }

  /** Runs of other servers are unknown here and not changed. */
  async #isLeft(runId: string, marks: Marks | undefined): Promise<boolean> {
    const { jobs } = this.#options.store;
    if (!(await this.#isOver(runId))) return false;
    const isBase = (marks?.backups.size ?? 0) > 0;
    return !isBase || jobs.get(marks?.job ?? "") === undefined;
  }

  async #isOver(runId: string): Promise<boolean> {
    const run = await this.#options.store.jobRuns.get(runId);
    return run?.endedAt !== undefined;
  }

  async #try(id: string, sweep: () => Promise<void>): Promise<void> {
    if (this.#isStopped) return;
    try {
      await sweep();
    } catch (error) {
      this.#options.logger.warn(
        `a leftover of a backup could not be deleted: ${id}`,
        {
          error,
        },
      );
    }
  }

  async #list(
    type: string,
    about: { readonly filter: string; readonly fields: readonly string[] },
  ): Promise<Row[]> {
    const found: Row[] = [];
    let after: string | undefined;
    do {
      const page = await this.#options.queries.page({
        ...about,
        type,
        sort: [],
        limit: PAGE,
        ...(after === undefined ? {} : { after }),
      });
      for (const [index, id] of page.ids.entries())
        found.push({
          ...(JSON.parse(Buffer.from(page.rows[index]!).toString()) as Row),
          id,
        });
      after = page.next;
    } while (after !== undefined);
    return found;
  }
}

/** Whether the disk of a snapshot still exists. */
async function hasDisk(xapi: Xapi, snapshot: XapiRecord): Promise<boolean> {
  const disk = textOf(snapshot, "snapshot_of");
  return isSet(disk) && (await readIfThere(xapi, "VDI", disk)) !== undefined;
}
