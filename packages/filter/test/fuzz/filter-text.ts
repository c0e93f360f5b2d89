import { strictEqual } from "node:assert";
import { FilterSyntaxError } from "../../src/filter-syntax-error.js";
import { formatFilter } from "../../src/format-filter.js";
import { parseFilter } from "../../src/parse-filter.js";

export const seeds = [
  "power_state:Running !tags:|(prod test) memory.size:>=8GiB",
  'name_label:/^web-\\d+$/i "two words" *glob?* size:<1.5e3',
  "!(a:b c) |(x y:|(1 2)) has?",
];

/** A formatted filter must parse to the same filter. */
export function run(input: Buffer): void {
  const text = input.toString("utf8");
  let filter;
  try {
    filter = parseFilter(text);
  } catch (error) {
    if (error instanceof FilterSyntaxError) return;
    throw error;
  }
  const formatted = formatFilter(filter);
  strictEqual(formatFilter(parseFilter(formatted)), formatted);
}
