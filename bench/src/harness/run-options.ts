import { readArguments, readRuns } from "./arguments.js";
import { documentsFolder } from "./repository.js";

/** Options that every benchmark has. */
export interface RunOptions {
  readonly runs: number;
  /** Folder that the document goes to; undefined: it is only printed. */
  readonly out: string | undefined;
  /** A minimal run: checks only that the bench works. */
  readonly smoke: boolean;
}

export const runUsage = "[--runs N] [--out DIR] [--smoke]";

/**
 * @param runs unless the command line has a number
 * @throws UsageError
 */
export function readRunOptions(
  args: readonly string[],
  runs: number,
): RunOptions {
  const { values } = readArguments(args, {
    runs: { type: "string" },
    out: { type: "string" },
    smoke: { type: "boolean" },
  });
  const smoke = values.smoke === true;
  return {
    runs: smoke ? 1 : (readRuns(values.runs) ?? runs),
    out: values.out ?? (smoke ? undefined : documentsFolder),
    smoke,
  };
}
