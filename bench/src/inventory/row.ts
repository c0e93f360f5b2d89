import { measureInChild } from "../harness/child.js";
import type { Figures } from "../harness/figures.js";

/** Some lines of the document, measured by one program in a fresh process. */
export interface Row {
  readonly section: Section;
  /** Unique in its section. */
  readonly mode: string;
  /** What it is about: `5,000 VMs`, `A`. */
  readonly pool: string;
  measure(): Promise<Figures>;
}

export type Section =
  | "queries"
  | "live"
  | "fan-out"
  | "churn"
  | "second-read"
  | "restart"
  | "memory";

/** A fleet of 100,000 takes a minute to load and to query. */
const TIMEOUT_MS = 300_000;

/** The name that `--only` selects. */
export function rowName({ section, mode, pool }: Row): string {
  return section === "queries" ? `${section} ${pool}` : `${section} ${mode}`;
}

/** @param program in `measure/` */
export function measureProgram(program: string, job: object): Promise<Figures> {
  return measureInChild({
    program: `measure/${program}.js`,
    job,
    timeoutMs: TIMEOUT_MS,
  });
}
