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

interface UnsentBytesOptions {
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
      const bytes = client.unsentBytes;
      if (bytes === 0) continue;
      const owner = byOwner.get(client.owner) ?? { bytes: 0, held: [] };
      byOwner.set(client.owner, owner);
      owner.held.push({ client, bytes });
      owner.bytes += bytes;
      excess += bytes;
    }
    while (excess > 0) excess -= closeOne([...byOwner.values()]);
  }
}

interface Held {
  readonly client: SlowClient;
  readonly bytes: number;
}

interface Owner {
  bytes: number;
  readonly held: Held[];
  /** Whether the largest is last. */
  isSorted?: boolean;
}

/** @returns its bytes */
function closeOne(owners: readonly Owner[]): number {
  const owner = owners.reduce((a, b) => (b.bytes > a.bytes ? b : a));
  // Once: thousands of connections of one user may have to be closed.
  if (owner.isSorted !== true) owner.held.sort((a, b) => a.bytes - b.bytes);
  owner.isSorted = true;
  const { client, bytes } = owner.held.pop()!;
  owner.bytes -= bytes;
  client.closeStalled();
  return bytes;
}
