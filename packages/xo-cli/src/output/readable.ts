import { stringify } from "yaml";
import { withTimes } from "./instant.js";
import { toPlainLines } from "./plain-text.js";

/** Human-readable output: YAML. */
export function toReadable(value: unknown): string {
  if (typeof value === "string") return `${toPlainLines(value)}\n`;
  return toPlainLines(stringify(withTimes(value), { lineWidth: 0 }));
}
