import { availableBytes, type MachineMemory } from "@xo-server/inventory";
import type { WallClock } from "@xo-server/kit";

/** A client that may not read. */
export interface SlowClient {
  /** Bytes that the server holds for it. */
  readonly unsentBytes: number;
  /** Clients of one user, or anonymous ones of one address, have the same owner. */
  readonly owner: string;
  /** Closes its connection. */
  closeStalled(): void;
}

export interface UnsentBytesOptions {
  readonly clients: Iterable<SlowClient>;
  /** Maximum of all clients together, in bytes. */
  readonly limitBytes: number;
  readonly clock: Pick<WallClock, "now">;
}

const MIB = 1024 * 1024;
const PART = 1 / 8;
const FLOOR = 256 * MIB;
const CEILING = 1024 * MIB;
/** Minimum interval between two sums, in ms: each reads all clients. */
const INTERVAL_MS = 100;

/** Default limit: a share of the memory of the machine. */
export function unsentBytesLimit(
  machine: Pick<MachineMemory, "totalBytes" | "constrainedBytes">,
): number {
  const share = availableBytes(machine) * PART;
  return Math.floor(Math.min(CEILING, Math.max(FLOOR, share)));
}

/**
 * Bounds what is held for all clients that do not read: each may have some MiB, but
 * a user may have thousands of connections. Beyond it connections of the owner with the most bytes are closed.
 */
export class UnsentBytes {
  readonly #options: UnsentBytesOptions;
  #checkedAt = -Infinity;

  constructor(options: UnsentBytesOptions) {
    this.#options = options;
  }

  /** To be called when much is held for a client. */
  check(): void {
    const { clients, limitBytes, clock } = this.#options;
    const passedMs = clock.now() - this.#checkedAt;
    // The clock may have been set back.
    if (passedMs >= 0 && passedMs < INTERVAL_MS) return;
    this.#checkedAt = clock.now();
    const byOwner = new Map<string, Owner>();
    let excess = -limitBytes;
    for (const client of clients) {
      const owner = byOwner.get(client.owner) ?? { bytes: 0, clients: [] };
      byOwner.set(client.owner, owner);
      owner.clients.push(client);
      owner.bytes += client.unsentBytes;
      excess += client.unsentBytes;
    }
    while (excess > 0) excess -= closeOne([...byOwner.values()]);
  }
}

interface Owner {
  bytes: number;
  readonly clients: SlowClient[];
}

/** @returns its bytes */
function closeOne(owners: readonly Owner[]): number {
  const owner = owners.reduce((a, b) => (b.bytes > a.bytes ? b : a));
  const client = owner.clients.reduce((a, b) =>
    b.unsentBytes > a.unsentBytes ? b : a,
  );
  const bytes = client.unsentBytes;
  owner.clients.splice(owner.clients.indexOf(client), 1);
  owner.bytes -= bytes;
  client.closeStalled();
  return bytes;
}
