import type { Formats } from "../../locale/formats.js";
import { fill, type InitialMessages } from "../../locale/messages.js";
import { messageText } from "../../objects/message-text.js";
import { shortSystemName } from "../../objects/system-name.js";
import type {
  Column,
  ColumnKind,
  ColumnValue,
  Used,
} from "../columns/column.js";

interface CellLocalization {
  readonly text: InitialMessages;
  readonly formats: Formats;
  /** Time of the server, in ms since the epoch. */
  readonly nowMs: number;
}

/** Kinds whose cells are nothing but that text, and do not change with time. */
const plainKinds: ReadonlySet<ColumnKind> = new Set([
  "bytes",
  "rate",
  "number",
  "text",
  "time",
  "flag",
  "count",
]);

export function isPlainText({ kind }: Column): boolean {
  return plainKinds.has(kind);
}

/** The text of a cell. Empty without a value. */
export function cellText(
  { kind }: Column,
  value: ColumnValue,
  { text, formats, nowMs }: CellLocalization,
): string {
  if (value === undefined || value === null || value === "") return "";
  if (isUsed(value)) return usedText(value, { text, formats, nowMs });
  if (typeof value === "boolean") return value ? text.lists.yes : "";
  if (kind === "system") return shortSystemName(String(value));
  if (kind === "message") return messageText(String(value), text);
  if (typeof value !== "number") return String(value);
  if (kind === "share") return formats.share(value);
  if (kind === "bytes") return formats.size(value);
  if (kind === "rate")
    return fill(text.lists.perSecond, { size: formats.bytes(value) });
  if (kind === "age") return formats.ago(nowMs - value * 1000);
  if (kind === "time")
    return formats.moment(new Date(value * 1000).toISOString());
  // A VLAN or an MTU is formatted without separators and units.
  return kind === "number" ? String(value) : formats.count(value);
}

/** A share from 0 to 1; undefined: not known. */
export function shareOf(value: ColumnValue): number | undefined {
  if (typeof value === "number") return value;
  if (!isUsed(value)) return undefined;
  const { used, size } = value;
  return used === undefined || !size ? undefined : used / size;
}

const units = ["KiB", "MiB", "GiB", "TiB", "PiB"];

/** Index of the unit in which a size is written. */
function unitOf(bytes: number): number {
  let exponent = 0;
  for (
    let value = bytes / 1024;
    value >= 1000 && exponent < units.length - 1;
    value /= 1024
  )
    exponent++;
  return exponent;
}

/** Short text, both values in the unit of the total: 2.4 / 4 GiB, 0.7 / 4 GiB. */
function usedText(
  { used, size }: Used,
  { text, formats }: CellLocalization,
): string {
  if (size === undefined || size <= 0) return "";
  const exponent = unitOf(size);
  const amount = (bytes: number) =>
    short(bytes / 1024 ** (exponent + 1), formats);
  const all = `${amount(size)} ${units[exponent]!}`;
  return used === undefined
    ? all
    : fill(text.lists.usedOf, { used: amount(used), size: all });
}

function short(value: number, formats: Formats): string {
  const digits = value < 9.95 ? 10 : 1;
  return formats.number(Math.round(value * digits) / digits);
}

function isUsed(value: ColumnValue): value is Used {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
