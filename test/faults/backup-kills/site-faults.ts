import { mkdirSync, renameSync, rmdirSync } from "node:fs";
import { readdir } from "node:fs/promises";
import type { Fault } from "./round-plan.js";
import type { Site } from "./site.js";

export interface KillCounts {
  servers: number;
  workers: number;
  starts: number;
  full: number;
  gone: number;
  coordinator: number;
}

/** Faults of what a server uses. */
export class SiteFaults {
  /** Of the repository that can be removed. */
  folder = "";
  readonly #site: Site;
  readonly #counts: KillCounts;
  readonly #problems: string[];

  constructor(site: Site, counts: KillCounts, problems: string[]) {
    this.#site = site;
    this.#counts = counts;
    this.#problems = problems;
  }

  /** @returns what ends the fault */
  begin(fault: Fault, done: string[]): () => Promise<void> {
    const { limited, pool } = this.#site;
    if (fault === "coordinator") {
      done.push("coordinator changed");
      this.#counts.coordinator++;
      const promoted = pool.promote();
      return () => promoted;
    }
    if (fault === "full" && limited !== undefined) {
      done.push("file system full");
      this.#counts.full++;
      const filled = limited.fill();
      return async () => {
        await filled;
        await limited.free();
      };
    }
    return this.#removeRepository(done);
  }

  /** As if it were unmounted: its mount point is empty. */
  #removeRepository(done: string[]): () => Promise<void> {
    const { folder } = this;
    done.push("repository gone");
    this.#counts.gone++;
    renameSync(folder, `${folder}.gone`);
    mkdirSync(folder);
    return async () => {
      const written = await readdir(folder);
      if (written.length > 0) {
        const names = written.join(", ");
        this.#problems.push(`written into the empty folder: ${names}`);
        renameSync(folder, `${folder}.written`);
      } else rmdirSync(folder);
      renameSync(`${folder}.gone`, folder);
    };
  }
}
