import { resolve } from "node:path";
import { readArguments } from "../harness/arguments.js";
import {
  rejectArguments,
  rowArguments,
  rowUsage,
  toRowOptions,
  type RowOptions,
} from "../harness/row-options.js";

export interface ApiOptions extends RowOptions {
  /** Folder for CPU profiles of the measured servers; profiling costs time. */
  readonly profile: string | undefined;
}

export const apiUsage = `${rowUsage} [--cpu-prof DIR]`;

/** @throws UsageError */
export function parseApiOptions(
  args: readonly string[],
  documents: string,
): ApiOptions {
  const { values, positionals } = readArguments(args, {
    ...rowArguments,
    "cpu-prof": { type: "string" },
  });
  rejectArguments(positionals);
  const folder = values["cpu-prof"];
  // The measured servers have another working directory.
  const profile = folder === undefined ? undefined : resolve(folder);
  const published = profile === undefined ? documents : undefined;
  const options = toRowOptions(values, { runs: 3, documents: published });
  return { ...options, profile };
}
