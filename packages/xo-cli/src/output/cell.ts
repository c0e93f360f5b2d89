import { toDuration } from "./duration.js";
import { toInstant } from "./instant.js";
import { toPlainText } from "./plain-text.js";

/** A table cell. */
export interface Cell {
  readonly text: string;
  /** Right-aligned; missing values too. */
  readonly isNumber: boolean;
}

/** Last path segments of values in bytes. */
const BYTES = new Set(["size", "usage", "physical_usage", "virtual_size"]);

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** A value in a table. Control characters are removed, as they could change the terminal. */
export function toCell(path: string, value: unknown): Cell {
  if (value === undefined || value === null)
    return { text: "", isNumber: true };
  const instant = toInstant(path, value);
  if (instant !== undefined) return { text: instant, isNumber: false };
  const duration = toDuration(path, value);
  if (duration !== undefined) return { text: duration, isNumber: true };
  if (typeof value !== "number")
    return { text: toPlainText(toText(value)), isNumber: false };
  const isBytes = BYTES.has(path.split(".").at(-1)!);
  return { text: isBytes ? toBytes(value) : String(value), isNumber: true };
}

/** @returns such as `4 GiB`, `1.5 TiB` */
export function toBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (Math.abs(value) >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${Number(value.toFixed(value < 10 ? 1 : 0))} ${UNITS[unit]}`;
}

function toText(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every((one) => typeof one !== "object"))
    return value.join(", ");
  return JSON.stringify(value);
}
