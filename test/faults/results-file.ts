import { existsSync, readFileSync } from "node:fs";
import { appendFile } from "node:fs/promises";
import type { Kills, Run } from "./reliability-document.js";

/** Where and when something was measured. */
export interface Measured {
  readonly commit: string;
  /** Load average of the last minute. */
  readonly load: number;
}

export type FaultRun = Run & Measured;
/** One data folder. */
export type KilledServer = Kills & Measured;

type RunLine = { readonly kind: "single" | "sequence" } & FaultRun;
type KillsLine = { readonly kind: "kills" } & KilledServer;
type Line = RunLine | KillsLine;

/** The results so far: a measurement of hours can be interrupted and continued. */
export class ResultsFile {
  readonly #path: string | undefined;
  readonly #lines: Line[];

  /** @param path lines of JSON; undefined: nothing is stored */
  constructor(path: string | undefined) {
    this.#path = path;
    this.#lines =
      path !== undefined && existsSync(path)
        ? readFileSync(path, "utf8")
            .split("\n")
            .filter((line) => line !== "")
            .map((line) => JSON.parse(line) as Line)
        : [];
  }

  /** Each run as it ended last: one that failed may have been repeated after a repair. */
  runs(kind: "single" | "sequence"): readonly FaultRun[] {
    const runs = this.#runs().filter((line) => line.kind === kind);
    return [...new Map(runs.map((run) => [run.name, run])).values()];
  }

  kills(): readonly KilledServer[] {
    return this.#lines.filter((line) => line.kind === "kills");
  }

  /** Runs that failed at one commit, and did not fail at a later one. */
  repaired(): readonly FaultRun[] {
    return this.#runs().filter(
      ({ kind, name, problems }) =>
        problems.length > 0 &&
        this.runs(kind).some(
          (run) => run.name === name && run.problems.length === 0,
        ),
    );
  }

  async add(line: Line): Promise<void> {
    this.#lines.push(line);
    if (this.#path !== undefined)
      await appendFile(this.#path, `${JSON.stringify(line)}\n`);
  }

  #runs(): readonly RunLine[] {
    return this.#lines.filter((line) => line.kind !== "kills");
  }
}
