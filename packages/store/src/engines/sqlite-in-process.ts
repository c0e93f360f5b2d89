import { setImmediate } from "node:timers/promises";
import { SqliteConnection } from "./sqlite-connection.js";
import { SqliteFailure } from "./sqlite-failure.js";
import type {
  ConnectionName,
  SqliteCall,
  SqliteExecutor,
  SqliteResult,
} from "./sqlite-protocol.js";

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
    // Other work of the process has its turn, as it has while a thread works.
    await setImmediate();
    if (this.#closed) throw new SqliteFailure(0, "the store is closed");
    return connections[call.connection].execute(call);
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
      const open = () => SqliteConnection.open(this.#file, this.#durable);
      return { writer: await open(), reader: await open() };
    } catch (error) {
      // The next call tries again.
      this.#connections = undefined;
      throw new SqliteFailure(0, (error as Error).message);
    }
  }
}
