import type { RepositoryContext } from "./repository-context.js";

const WRITE_EVERY_MS = 60_000;
/** Updates per transaction. */
const CHUNK = 200;

interface Use {
  readonly time: number;
  readonly address: string | undefined;
}

/** Last use of each token: collected in memory and written once a minute, since every request is a use. */
export class TokenUses {
  readonly #context: RepositoryContext;
  #pending = new Map<string, Use>();
  /** Being written: the rows do not have them yet. */
  readonly #writing = new Map<string, Use>();
  #timer: unknown;
  #closed = false;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  /** @param address undefined: the one of before */
  note(id: string, address: string | undefined): void {
    const { clock } = this.#context;
    if (this.#closed) return;
    const before = this.#pending.get(id)?.address;
    this.#pending.set(id, { time: clock.now(), address: address ?? before });
    this.#timer ??= clock.setTimeout(() => {
      this.#timer = undefined;
      void this.write();
    }, WRITE_EVERY_MS);
  }

  /** A use that is not written yet. */
  timeOf(id: string): number | undefined {
    return (this.#pending.get(id) ?? this.#writing.get(id))?.time;
  }

  /** Uses that cannot be written are retried with the next ones. */
  async write(): Promise<void> {
    const uses = [...this.#pending];
    this.#pending = new Map();
    for (const [id, use] of uses) this.#writing.set(id, use);
    await this.#writeAll(uses);
    for (const [id, use] of uses)
      if (this.#writing.get(id) === use) this.#writing.delete(id);
  }

  async close(): Promise<void> {
    this.#context.clock.clearTimeout(this.#timer);
    await this.write();
    this.#closed = true;
  }

  async #writeAll(uses: readonly (readonly [string, Use])[]): Promise<void> {
    for (let i = 0; i < uses.length; i += CHUNK)
      try {
        await this.#writeChunk(uses.slice(i, i + CHUNK));
      } catch {
        // An unreachable database is logged by Availability.
        for (const [id, use] of uses.slice(i))
          if (!this.#pending.has(id)) this.#pending.set(id, use);
        return;
      }
  }

  async #writeChunk(chunk: readonly (readonly [string, Use])[]): Promise<void> {
    await this.#context.committer.run(async (unit) => {
      for (const [id, { time, address }] of chunk) {
        const row = await unit.sql
          .updateTable("tokens")
          .set({
            last_used_at: time,
            ...(address === undefined ? {} : { last_address: address }),
          })
          .where("id", "=", id)
          .returningAll()
          .executeTakeFirst();
        if (row !== undefined)
          unit.addChange({ target: this.#context.tables.tokens, id, row });
      }
    });
  }
}
