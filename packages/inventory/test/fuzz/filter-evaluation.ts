import { FilterSyntaxError } from "@xo-server/filter";
import { XoError } from "@xo-server/model";
import { compileFilter } from "../../src/filter/compile-filter.js";
import { filterFields } from "../../src/filter/filter-fields.js";
import { createObjectFilter } from "../../src/filter/object-filter.js";
import { parseFilter } from "../../src/filter/parse-filter.js";

export const seeds = [
  "power_state:Running tags:/^(a+)+$/ memory.size:>=8GiB",
  "name_label:*e?-00* !os_version:truthy?",
  '{"type":"VM","tags":["prod"],"memory":{"size":1}}',
];

const object = {
  type: "VM",
  name_label: `${"a".repeat(5_000)}!`,
  power_state: "Running",
  tags: ["prod", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"],
  memory: { size: 8 * 2 ** 30 },
  other: { nested: [{ deep: "x".repeat(10_000) }] },
};

/** Evaluates a filter text, or a filter object as `xo.getAllObjects` takes it. */
export function run(input: Buffer): void {
  const text = input.toString("utf8");
  try {
    if (text.startsWith("{")) {
      const pattern = JSON.parse(text) as object;
      createObjectFilter(pattern)(object);
      return;
    }
    const filter = parseFilter(text);
    filterFields(filter);
    compileFilter(filter)(object);
  } catch (error) {
    const isExpected =
      error instanceof XoError ||
      error instanceof FilterSyntaxError ||
      error instanceof SyntaxError;
    if (!isExpected) throw error;
  }
}
