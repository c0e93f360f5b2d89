import type { Range } from "./disk-image.js";
import type { Cost } from "./measured-command.js";

/** Where an engine works: a folder of its own and the image. */
export interface Job {
  readonly folder: string;
  readonly image: string;
}

/** Something that backs up an image and restores it. */
export interface Engine {
  readonly name: string;
  /** The command that must exist; undefined: it always does. */
  readonly command?: string;
  /** Prepares the repository; not measured. */
  prepare(job: Job): Promise<void>;
  full(job: Job): Promise<Cost>;
  /** The image has changed in these ranges. Absent: the engine does not use them. */
  incremental?(job: Job, changed: readonly Range[]): Promise<Cost>;
  /** Restores the last state into a new file. */
  restore(job: Job, target: string): Promise<Cost>;
  /** The files that it stored. */
  repository(job: Job): string;
}
