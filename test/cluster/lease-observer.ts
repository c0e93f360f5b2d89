import type { PostgresCluster } from "@xo-server/store/conformance";

/** Reads the leases of a database repeatedly, and reports violations of their guarantees. */
export class LeaseObserver {
  readonly problems: string[] = [];
  /** Number of times that a subject has got another owner. */
  moves = 0;
  readonly #postgres: PostgresCluster;
  readonly #last = new Map<string, { epoch: number; instance: string }>();
  #isStopped = false;

  constructor(postgres: PostgresCluster) {
    this.#postgres = postgres;
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Runs until it is stopped; while the database is down, it retries. */
  async run(): Promise<void> {
    while (!this.#isStopped) {
      await this.#look().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async #look(): Promise<void> {
    const sql = "select id, epoch::int as epoch, instance from leases";
    const rows = await this.#postgres.query("xo", sql);
    for (const row of rows as { id: string; epoch: number; instance: string }[])
      this.#compare(row);
  }

  #compare(row: { id: string; epoch: number; instance: string }): void {
    const { id, epoch, instance } = row;
    const last = this.#last.get(id);
    this.#last.set(id, row);
    if (last === undefined) return;
    if (epoch < last.epoch)
      this.problems.push(`${id}: epoch ${epoch} after ${last.epoch}`);
    const isOther = instance !== "" && instance !== last.instance;
    if (isOther && last.instance !== "" && epoch === last.epoch)
      this.problems.push(`${id}: two owners in epoch ${epoch}`);
    if (isOther) this.moves++;
  }
}
