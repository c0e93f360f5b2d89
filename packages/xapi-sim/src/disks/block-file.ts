import {
  closeSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Size of a block in bytes: one bit of changed block tracking (CBT). */
export const BLOCK_SIZE = 64 * 1024;

/**
 * The blocks that were written to the disks of a pool, in a temporary file that is created at the
 * first write. It is deleted while open, so that nothing remains even after `kill -9`.
 */
export class BlockFile {
  readonly #parent: string;
  #file: number | undefined;
  #folder: string | undefined;
  /** Number of slots that have ever been used; higher ones are new. */
  #end = 0;
  #free: number[] = [];

  /** @param parent folder of the temporary files; default: the system's */
  constructor(parent = tmpdir()) {
    this.#parent = parent;
  }

  /** Blocks in use. */
  get count(): number {
    return this.#end - this.#free.length;
  }

  /** @returns the number of a free slot, whose content is undefined */
  allocate(): number {
    return this.#free.pop() ?? this.#end++;
  }

  release(slot: number): void {
    this.#free.push(slot);
    if (this.count > 0) return;
    this.#free = [];
    this.#end = 0;
    if (this.#file !== undefined) ftruncateSync(this.#file, 0);
  }

  /**
   * Fills `into`; bytes that were never written are 0.
   * @param at offset in the slot, in bytes; `into` may extend into the slots after it
   */
  read(slot: number, at: number, into: Buffer): void {
    let done = 0;
    while (done < into.length) {
      const position = slot * BLOCK_SIZE + at + done;
      const count = readSync(this.#open(), into, {
        offset: done,
        length: into.length - done,
        position,
      });
      // A slot that was written in part only, at the end of the file.
      if (count === 0) break;
      done += count;
    }
    into.fill(0, done);
  }

  /** @throws Error ENOSPC and other errors of the file system */
  write(slot: number, at: number, bytes: Buffer): void {
    for (let done = 0; done < bytes.length;)
      done += writeSync(
        this.#open(),
        bytes,
        done,
        bytes.length - done,
        slot * BLOCK_SIZE + at + done,
      );
  }

  stop(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    this.#remove();
  }

  #open(): number {
    if (this.#file !== undefined) return this.#file;
    this.#folder = mkdtempSync(join(this.#parent, "xapi-sim-"));
    this.#file = openSync(join(this.#folder, "blocks"), "w+", 0o600);
    this.#remove();
    return this.#file;
  }

  /** Deletes the file; where open files cannot be deleted, `stop` does. */
  #remove(): void {
    if (this.#folder === undefined) return;
    try {
      rmSync(this.#folder, { recursive: true, force: true });
      this.#folder = undefined;
    } catch {
      // Tried again at `stop`; until then the folder is not used.
    }
  }
}
