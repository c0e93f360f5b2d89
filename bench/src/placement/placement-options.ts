import { readArguments } from "../harness/arguments.js";
import {
  rejectArguments,
  rowArguments,
  rowUsage,
  toRowOptions,
  type RowOptions,
} from "../harness/row-options.js";

export interface PlacementOptions extends RowOptions {
  /** A pool as JSON that is planned instead of all rows. */
  readonly replay: string | undefined;
}

export const placementUsage = `${rowUsage} [--replay POOL.json]`;

/** @throws UsageError */
export function parsePlacementOptions(
  args: readonly string[],
  documents: string,
): PlacementOptions {
  const { values, positionals } = readArguments(args, {
    ...rowArguments,
    replay: { type: "string" },
  });
  rejectArguments(positionals);
  const { replay } = values;
  return { ...toRowOptions(values, { runs: 5, documents }), replay };
}
