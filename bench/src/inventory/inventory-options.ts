import { readArguments } from "../harness/arguments.js";
import {
  rejectArguments,
  rowArguments,
  rowUsage,
  toRowOptions,
  type RowOptions,
} from "../harness/row-options.js";

export interface InventoryOptions extends RowOptions {
  /** Git ref whose published figures are compared with these. */
  readonly compare: string | undefined;
}

export const inventoryUsage = `${rowUsage} [--compare REF]`;

/** @throws UsageError */
export function parseInventoryOptions(
  args: readonly string[],
  documents: string,
): InventoryOptions {
  const { values, positionals } = readArguments(args, {
    ...rowArguments,
    compare: { type: "string" },
  });
  rejectArguments(positionals);
  const { compare } = values;
  return { ...toRowOptions(values, { runs: 3, documents }), compare };
}
