import { FolderError } from "./folder-error.js";
import type { ByteRange, Storage, StoredFile } from "./storage.js";

/** As many as Node.js executes at once by default; a storage that hangs leaves threads to others. */
const MAX_OPERATIONS = 4;
/** Files that one limited operation deletes at most. */
const REMOVE_BATCH = 100;
/** After the limit, in ms: after a suspension of this machine the answer is there, but not yet read. */
const GRACE_MS = 1000;

interface ResponsiveOptions {
  /** Time in which each operation must end, in milliseconds. */
  readonly limitMs: number;
  /** Calls a function after a time; returns what cancels that. Default: by setTimeout. */
  readonly after?: (ms: number, call: () => void) => () => void;
}

/**
 * A folder whose operations fail when a file server does not answer: the system itself waits for
 * ever (NFS mounted `hard`, FUSE). After that each operation fails at once until the server answers.
 */
export class ResponsiveStorage implements Required<Storage> {
  readonly location: string;
  readonly #storage: Required<Storage>;
  readonly #limitMs: number;
  readonly #after: NonNullable<ResponsiveOptions["after"]>;
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  /** Number of operations that have not ended in time. */
  #hanging = 0;

  constructor(
    storage: Required<Storage>,
    { limitMs, after = callLater }: ResponsiveOptions,
  ) {
    this.#storage = storage;
    this.#limitMs = limitMs;
    this.#after = after;
    this.location = storage.location;
  }

  putIfAbsent(name: string, parts: readonly Uint8Array[]): Promise<boolean> {
    return this.#limit(() => this.#storage.putIfAbsent(name, parts));
  }

  read(name: string, range?: ByteRange, memory?: Buffer): Promise<Buffer> {
    return this.#limit(() => this.#storage.read(name, range, memory));
  }

  readParts(name: string, parts: readonly ByteRange[]): Promise<Buffer[]> {
    return this.#limit(() => this.#storage.readParts(name, parts));
  }

  size(name: string): Promise<number | undefined> {
    return this.#limit(() => this.#storage.size(name));
  }

  async *list(folder: string): AsyncIterable<StoredFile> {
    const files = this.#storage.list(folder)[Symbol.asyncIterator]();
    for (;;) {
      const next = await this.#limit(() => files.next());
      if (next.done === true) return;
      yield next.value;
    }
  }

  async remove(names: readonly string[]): Promise<void> {
    for (let i = 0; i < names.length; i += REMOVE_BATCH)
      await this.#limit(() =>
        this.#storage.remove(names.slice(i, i + REMOVE_BATCH)),
      );
  }

  move(from: string, to: string): Promise<void> {
    return this.#limit(() => this.#storage.move(from, to));
  }

  removeTemporaryFiles(before: number): Promise<void> {
    return this.#limit(() => this.#storage.removeTemporaryFiles(before));
  }

  readOnlyReason(): Promise<string | undefined> {
    return this.#limit(() => this.#storage.readOnlyReason());
  }

  capacity(): Promise<{ readonly total: number; readonly free: number }> {
    return this.#limit(() => this.#storage.capacity());
  }

  /** The time for which the operation waits for others counts: those may hang. */
  async #limit<T>(operate: () => Promise<T>): Promise<T> {
    if (this.#hanging > 0) throw this.#failure();
    return new Promise<T>((resolve, reject) => {
      let isLate = false;
      const fail = (): void => {
        isLate = true;
        this.#hanging++;
        reject(this.#failure());
      };
      let cancel = this.#after(this.#limitMs, () => {
        cancel = this.#after(GRACE_MS, fail);
      });
      const run = async (): Promise<T> => {
        await this.#enter();
        try {
          return await operate();
        } finally {
          this.#leave();
          if (isLate) this.#hanging--;
          cancel();
        }
      };
      run().then(resolve, reject);
    });
  }

  async #enter(): Promise<void> {
    if (this.#running < MAX_OPERATIONS) this.#running++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running--;
    else next();
  }

  #failure(): FolderError {
    return new FolderError(
      `${this.location}: the file server does not respond (no answer for ${this.#limitMs / 1000} s)`,
    );
  }
}

function callLater(ms: number, call: () => void): () => void {
  const timer = setTimeout(call, ms);
  return () => clearTimeout(timer);
}
