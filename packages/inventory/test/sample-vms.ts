import { build } from "./fixtures/record-links.js";
import { samplePool, withFields } from "./fixtures/sample-pool.js";
import { ref } from "./fixtures/sample-records.js";

export const halted = (fields = {}) => vm(5, fields);
export const vm = (number: number, fields: object, records = samplePool) =>
  build(
    withFields(records, "VM", number, fields as Record<string, unknown>),
    "VM",
    ref("VM", number),
  );
