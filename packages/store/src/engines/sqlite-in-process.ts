import { setImmediate, setTimeout } from "node:timers/promises";
import { BUSY_TIMEOUT_MS, SqliteConnection } from "./sqlite-connection.js";
import { SqliteFailure } from "./sqlite-failure.js";
import type {
  ConnectionName,
  SqliteCall,
  SqliteExecutor,
  SqliteResult,
} from "./sqlite-protocol.js";

/** https://sqlite.org/rescode.html; the higher bits contain details. */
const BUSY = 5;
const BUSY_PAUSE_MS = 2;

/** Runs SQLite in the thread of the caller, which its calls block: for commands and tests. */
export class SqliteInProcess implements SqliteExecutor {
  /** Nothing that could end before the process does. */
  readonly generation = 0;
  readonly #file: string;
  readonly #durable: boolean;
  #connections: Promise<Record<ConnectionName, SqliteConnection>> | undefined;
  #closed = false;

  constructor(file: string, durable: boolean) {
    this.#file = file;
    this.#durable = durable;
  }

  async request(call: SqliteCall): Promise<SqliteResult> {
    this.#connections ??= this.#open();
    const connections = await this.#connections;
    const deadline = performance.now() + BUSY_TIMEOUT_MS;
    // Other work of the process has its turn, as it has while a thread works.
    await setImmediate();
    for (;;) {
      if (this.#closed) throw new SqliteFailure(0, "the store is closed");
      try {
        return connections[call.connection].execute(call);
      } catch (error) {
        const isBusy = ((error as SqliteFailure).code & 0xff) === BUSY;
        if (!isBusy || performance.now() > deadline) throw error;
      }
      // The lock may be held by another store of this process, which SQLite's own
      // waiting would block.
      await setTimeout(BUSY_PAUSE_MS);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    // A database that could not be opened has rejected the calls; there is nothing to close.
    const connections = await this.#connections?.catch(() => undefined);
    connections?.reader.close();
    connections?.writer.close();
    this.#connections = undefined;
  }

  async #open(): Promise<Record<ConnectionName, SqliteConnection>> {
    try {
      const open = async () => {
        const connection = await SqliteConnection.open(
          this.#file,
          this.#durable,
        );
        connection.failWhenBusy();
        return connection;
      };
      return { writer: await open(), reader: await open() };
    } catch (error) {
      // The next call tries again.
      this.#connections = undefined;
      throw new SqliteFailure(0, (error as Error).message);
    }
  }
}
