import { RepositoryError } from "../src/errors.js";
import type { ByteRange, Storage, StoredFile } from "../src/storage/storage.js";

/** Files in a map. `turn` is awaited before each access: a test decides the order. */
export class MemoryStorage implements Storage {
  readonly location = "memory";
  readonly files: Map<string, Buffer>;
  readonly #turn: () => Promise<void> | undefined;

  constructor(
    files = new Map<string, Buffer>(),
    turn: () => Promise<void> | undefined = () => undefined,
  ) {
    this.files = files;
    this.#turn = turn;
  }

  async putIfAbsent(
    name: string,
    parts: readonly Uint8Array[],
  ): Promise<boolean> {
    await this.#turn();
    if (this.files.has(name)) return false;
    this.files.set(name, Buffer.concat(parts));
    return true;
  }

  async read(name: string, range?: ByteRange): Promise<Buffer> {
    await this.#turn();
    const bytes = this.files.get(name);
    if (bytes === undefined)
      throw new RepositoryError("missing", `${name} does not exist`);
    const offset = range?.offset ?? 0;
    return bytes.subarray(
      Math.max(0, offset),
      Math.max(0, offset) + (range?.length ?? bytes.length),
    );
  }

  async size(name: string): Promise<number | undefined> {
    await this.#turn();
    return this.files.get(name)?.length;
  }

  async *list(folder: string): AsyncIterable<StoredFile> {
    await this.#turn();
    const found = [...this.files].filter(([name]) =>
      name.startsWith(`${folder}/`),
    );
    for (const [name, { length }] of found) yield { name, size: length };
  }

  async remove(names: readonly string[]): Promise<void> {
    for (const name of names) {
      await this.#turn();
      this.files.delete(name);
    }
  }

  async removeTemporaryFiles(): Promise<void> {
    await this.#turn();
  }
}
