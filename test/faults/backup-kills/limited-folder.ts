import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A file system in memory that can be filled. */
export class LimitedFolder {
  readonly path: string;

  /** @returns undefined: this user may not mount file systems */
  static async mount(path: string): Promise<LimitedFolder | undefined> {
    const size = ["-o", "size=224m"];
    try {
      await run("mount", ["-t", "tmpfs", ...size, "xo-faults", path]);
      return new LimitedFolder(path);
    } catch {
      return undefined;
    }
  }

  private constructor(path: string) {
    this.path = path;
  }

  /** Leaves no free space. */
  async fill(): Promise<void> {
    const file = `of=${join(this.path, FILLER)}`;
    // dd fails when the file system is full.
    await run("dd", ["if=/dev/zero", file, "bs=1M"]).catch(() => undefined);
  }

  async free(): Promise<void> {
    await rm(join(this.path, FILLER), { force: true });
  }

  async unmount(): Promise<void> {
    await run("umount", ["-l", this.path]);
  }
}

/** Beside the folder of the repository. */
const FILLER = "filler";
