import type { MonotonicClock } from "@xo-server/kit";
import { addressName, type Address } from "./address.js";
import { Connection } from "./connection.js";
import type { Dialer } from "./dialer.js";

interface IdleConnection {
  readonly connection: Connection;
  readonly idleSinceMs: number;
}

/** A connection idle for longer may be closed by the host at any moment; ms. Non-idempotent calls do not reuse it. */
const RECENT_IDLE_MS = 4_000;

/** Idle connections kept alive for the next call, by address. */
export class ConnectionPool {
  readonly #dialer: Pick<Dialer, "dial" | "hasOtherWay" | "isUsable">;
  readonly #clock: Pick<MonotonicClock, "now">;
  readonly #maxIdle: number;
  readonly #idle = new Map<string, IdleConnection[]>();
  readonly #open = new Map<Connection, string>();
  /** Set by `close`. */
  #closed: Error | undefined;

  constructor(
    dialer: Pick<Dialer, "dial" | "hasOtherWay" | "isUsable">,
    clock: Pick<MonotonicClock, "now">,
    maxIdle: number,
  ) {
    this.#dialer = dialer;
    this.#clock = clock;
    this.#maxIdle = maxIdle;
  }

  /**
   * @param reuse `any`: any idle connection; `recent`: only one used a moment ago; `never`: a new connection
   * @throws as dial; the reason of `close`
   */
  async acquire(
    address: Address,
    reuse: "any" | "recent" | "never",
    signal?: AbortSignal,
  ): Promise<{ connection: Connection; isReused: boolean }> {
    if (this.#closed !== undefined) throw this.#closed;
    // A new connection shows that packets pass, or is established in the other way. On an idle one a call
    // that cannot be repeated would wait for its time limit.
    const isNew =
      reuse === "never" || (reuse === "recent" && this.#dialer.hasOtherWay);
    const idle = isNew ? undefined : this.#pop(address, reuse);
    if (idle !== undefined) return { connection: idle, isReused: true };
    const connection = await Connection.open(address, this.#dialer, signal);
    this.#refuseIfClosed(connection);
    this.#open.set(connection, addressName(address));
    return { connection, isReused: false };
  }

  /** Returns a connection after use: it is reused if possible, else closed. */
  release(address: Address, connection: Connection): void {
    const name = addressName(address);
    const idle = this.#idle.get(name) ?? [];
    if (
      !connection.isReusable ||
      idle.length >= this.#maxIdle ||
      !this.#dialer.isUsable(address, connection.via)
    ) {
      this.#open.delete(connection);
      connection.destroy();
      return;
    }
    idle.push({ connection, idleSinceMs: this.#clock.now() });
    this.#idle.set(name, idle);
    connection.onIdleEnd = () => {
      this.#open.delete(connection);
      // Others may have ended, or been released, since.
      const left = this.#idle.get(name) ?? [];
      this.#idle.set(
        name,
        left.filter((idle) => idle.connection !== connection),
      );
    };
  }

  /**
   * To be called when a response was not received: a device that has dropped one
   * connection to a host may have dropped all.
   */
  dropIdle(address: Address): void {
    const name = addressName(address);
    for (const { connection } of this.#idle.get(name) ?? []) {
      this.#open.delete(connection);
      connection.destroy();
    }
    this.#idle.delete(name);
  }

  /**
   * Closes connections to a host; calls in progress reject with `reason`.
   * @param calls `repeatable`: connections of other calls stay open
   */
  leave(address: Address, calls: "repeatable" | "all", reason: Error): void {
    this.dropIdle(address);
    const name = addressName(address);
    for (const [connection, host] of this.#open) {
      const stays = calls === "repeatable" && !connection.isRepeatable;
      if (host !== name || stays) continue;
      this.#open.delete(connection);
      connection.destroy(reason);
    }
  }

  /** Closes all connections, and opens no more; calls in progress reject with `reason`. */
  close(reason: Error): void {
    this.#closed = reason;
    for (const connection of this.#open.keys()) connection.destroy(reason);
    this.#open.clear();
    this.#idle.clear();
  }

  /** A connection that was established after `close`. */
  #refuseIfClosed(connection: Connection): void {
    if (this.#closed === undefined) return;
    connection.destroy();
    throw this.#closed;
  }

  #pop(address: Address, reuse: "any" | "recent"): Connection | undefined {
    const idle = this.#idle.get(addressName(address));
    this.#dropUnusable(address, idle ?? []);
    const last = idle?.at(-1);
    if (idle === undefined || last === undefined) return undefined;
    if (
      reuse === "recent" &&
      this.#clock.now() - last.idleSinceMs > RECENT_IDLE_MS
    )
      return undefined;
    idle.pop();
    last.connection.onIdleEnd = undefined;
    return last.connection;
  }

  /** Closes idle connections that were established in another way than the one in which the host is reached now. */
  #dropUnusable(address: Address, idle: IdleConnection[]): void {
    for (const one of idle.splice(0)) {
      if (this.#dialer.isUsable(address, one.connection.via)) {
        idle.push(one);
        continue;
      }
      this.#open.delete(one.connection);
      one.connection.destroy();
    }
  }
}
