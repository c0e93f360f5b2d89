import { XoError } from "@xo-server/model";
import type {
  Fence,
  FreeLease,
  Lease,
  LeaseOwner,
  RenewedLease,
  Store,
} from "@xo-server/store";

interface Row {
  owner: string;
  instance: string;
  epoch: number;
  requestedBy: string | undefined;
  takenAt: number;
  expiresAt: number;
}

export type LeaseStore = Pick<
  Store["leases"],
  "take" | "renew" | "release" | "request" | "transfer" | "listFree" | "list"
>;

/** The leases of a database whose clock a test controls. The suite of the store checks the same of the real ones. */
export class LeaseDatabase implements LeaseStore {
  readonly #now: () => number;
  readonly #rows = new Map<string, Row>();

  /** @param now the clock of the database */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** @throws XoError LEASE_LOST */
  check({ subject, epoch }: Fence): void {
    if (this.#rows.get(subject)?.epoch !== epoch)
      throw new XoError("LEASE_LOST", { subject });
  }

  async take(
    subject: string,
    { owner, instance }: LeaseOwner,
    ttlMs: number,
  ): Promise<Fence | undefined> {
    const now = this.#now();
    const before = this.#rows.get(subject);
    const isFree =
      before === undefined ||
      before.expiresAt <= now ||
      (before.owner === owner && ["", instance].includes(before.instance));
    if (!isFree) return undefined;
    const epoch = (before?.epoch ?? 0) + 1;
    const expiresAt = now + ttlMs;
    const requestedBy = undefined;
    const takenAt = now;
    const row = { owner, instance, epoch, requestedBy, takenAt, expiresAt };
    this.#rows.set(subject, row);
    return { subject, epoch };
  }

  async renew(
    instance: string,
    ttlMs: number,
  ): Promise<ReadonlyMap<string, RenewedLease>> {
    const renewed = new Map<string, RenewedLease>();
    for (const [subject, row] of this.#rows) {
      if (row.instance !== instance) continue;
      row.expiresAt = this.#now() + ttlMs;
      const { epoch, requestedBy } = row;
      renewed.set(subject, {
        epoch,
        ...(requestedBy === undefined ? {} : { requestedBy }),
      });
    }
    return renewed;
  }

  async release(instance: string, subjects: readonly string[]): Promise<void> {
    for (const subject of subjects) {
      const row = this.#rows.get(subject);
      if (row?.instance === instance)
        Object.assign(row, { instance: "", expiresAt: 0 });
    }
  }

  inherit({ owner }: Pick<LeaseOwner, "owner">, earlier: string): void {
    for (const row of this.#rows.values())
      if (row.owner === owner && row.instance === earlier) row.instance = "";
  }

  async request(subject: string, owner: string): Promise<void> {
    const row = this.#rows.get(subject);
    if (row !== undefined) row.requestedBy = owner;
  }

  async transfer(
    { subject, epoch }: Fence,
    { instance, to }: { readonly instance: string; readonly to: string },
    ttlMs: number,
  ): Promise<void> {
    const row = this.#rows.get(subject);
    if (row?.instance !== instance || row.epoch !== epoch) return;
    row.owner = to;
    row.instance = "";
    row.epoch = epoch + 1;
    row.requestedBy = undefined;
    row.expiresAt = this.#now() + ttlMs;
  }

  async listFree(
    { owner, instance }: LeaseOwner,
    withinMs = 0,
  ): Promise<FreeLease[]> {
    const now = this.#now();
    return [...this.#rows]
      .filter(([, row]) => row.instance !== instance)
      .map(([subject, row]) => {
        const isOurs = row.owner === owner && row.instance === "";
        const expiresInMs = isOurs ? 0 : Math.max(0, row.expiresAt - now);
        const isLost = expiresInMs === 0 && row.instance !== "";
        return {
          subject,
          expiresInMs,
          ...(isLost ? { lostBy: row.owner } : {}),
        };
      })
      .filter(({ expiresInMs }) => expiresInMs <= withinMs);
  }

  async list(): Promise<Lease[]> {
    return Array.from(this.#rows, ([subject, row]) => ({
      subject,
      owner: row.owner,
      epoch: row.epoch,
      takenAt: row.takenAt,
      expiresInMs: Math.max(0, row.expiresAt - this.#now()),
    }));
  }
}
