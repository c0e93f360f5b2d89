import type { Clock } from "../clock.js";
import { addressName, type Address } from "./address.js";
import { Connection } from "./connection.js";
import type { DialOptions } from "./dial.js";

interface IdleConnection {
  readonly connection: Connection;
  readonly since: number;
}

/** A kept connection older than this may have been closed by the other side without our knowing; ms. */
const RECENT_IDLE_MS = 4_000;

/** Connections that are kept for the next call, by address. */
export class ConnectionPool {
  readonly #options: DialOptions;
  readonly #clock: Clock;
  readonly #maxIdle: number;
  readonly #idle = new Map<string, IdleConnection[]>();
  readonly #open = new Set<Connection>();

  constructor(options: DialOptions, maxIdle: number) {
    this.#options = options;
    this.#clock = options.clock;
    this.#maxIdle = maxIdle;
  }

  /**
   * @param reuse `any`: a kept connection will do; `fresh`: only one used just now; `no`: a new one
   * @throws as dial
   */
  async acquire(
    address: Address,
    reuse: "any" | "fresh" | "no",
    signal?: AbortSignal,
  ): Promise<{ connection: Connection; isKept: boolean }> {
    const idle = reuse === "no" ? undefined : this.#pop(address, reuse);
    if (idle !== undefined) return { connection: idle, isKept: true };
    const connection = await Connection.open(address, this.#options, signal);
    this.#open.add(connection);
    return { connection, isKept: false };
  }

  /** After use: kept when it can be. */
  release(address: Address, connection: Connection): void {
    const name = addressName(address);
    const kept = this.#idle.get(name) ?? [];
    if (!connection.isReusable || kept.length >= this.#maxIdle) {
      this.#open.delete(connection);
      connection.destroy();
      return;
    }
    kept.push({ connection, since: this.#clock.now() });
    this.#idle.set(name, kept);
    connection.onIdleEnd = () => {
      this.#open.delete(connection);
      this.#idle.set(
        name,
        kept.filter((idle) => idle.connection !== connection),
      );
    };
  }

  /** Ends all connections; those in use reject with `reason`. */
  close(reason: Error): void {
    for (const connection of this.#open) connection.destroy(reason);
    this.#open.clear();
    this.#idle.clear();
  }

  #pop(address: Address, kept: "any" | "fresh"): Connection | undefined {
    const idle = this.#idle.get(addressName(address));
    const last = idle?.at(-1);
    if (idle === undefined || last === undefined) return undefined;
    if (kept === "fresh" && this.#clock.now() - last.since > RECENT_IDLE_MS)
      return undefined;
    idle.pop();
    last.connection.onIdleEnd = undefined;
    return last.connection;
  }
}
