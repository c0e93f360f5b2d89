import { watch, type FSWatcher } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";

/** Counts the changes of files in folders, and does something at one of them. */
export class FileChanges {
  readonly #watchers: FSWatcher[] = [];
  readonly #watched = new Set<string>();
  readonly #fire: (() => void) | undefined;
  readonly #at: number;
  #count = 0;
  #isStopped = false;

  /** @param at number of changes until `fire` is called */
  static async start(
    folders: readonly string[],
    at = Infinity,
    fire?: () => void,
  ): Promise<FileChanges> {
    const changes = new FileChanges(at, fire);
    for (const folder of folders) await changes.#watch(folder);
    return changes;
  }

  private constructor(at: number, fire?: () => void) {
    this.#at = at;
    this.#fire = fire;
  }

  get count(): number {
    return this.#count;
  }

  stop(): void {
    this.#isStopped = true;
    for (const watcher of this.#watchers) watcher.close();
  }

  async #watch(folder: string): Promise<void> {
    if (this.#isStopped || this.#watched.has(folder)) return;
    this.#watched.add(folder);
    try {
      const watcher = watch(folder, (type, name) => {
        if (this.#isStopped) return;
        this.#count++;
        if (this.#count === this.#at) this.#fire?.();
        // It may be a new folder.
        if (type === "rename" && name !== null && !/\.\w+$/.test(name))
          void this.#watch(join(folder, name));
      });
      watcher.on("error", () => watcher.close());
      this.#watchers.push(watcher);
      for (const entry of await readdir(folder, { withFileTypes: true }))
        if (entry.isDirectory()) await this.#watch(join(folder, entry.name));
    } catch {
      // It was deleted meanwhile, or is a file.
    }
  }
}
