import type { Messages } from "../../locale/messages.js";
import type { ObjectRow } from "../../api/object-row.js";

/** Message key of its name. */
export type ColumnId = keyof Messages["lists"]["columns"];

/**
 * How a value is shown. name: the link to the object; state: text and colour;
 * share: 0 to 1 as a bar; used: bytes of bytes as a bar; rate: bytes per second;
 * time: seconds since the epoch; about: the id of an object whose type is not
 * known; disk-vms: ids of the VBDs of a disk, as the names of their VMs; system: the
 * name of an operating system; message: the name of a XAPI message, as a sentence.
 */
export type ColumnKind =
  | "name"
  | "state"
  | "share"
  | "used"
  | "bytes"
  | "rate"
  | "number"
  | "text"
  | "code"
  | "object"
  | "tags"
  | "time"
  | "age"
  | "flag"
  | "count"
  | "about"
  | "disk-vms"
  | "system"
  | "message";

/** Bytes in use, and the total. */
export interface Used {
  readonly used?: number | undefined;
  readonly size?: number | undefined;
}

export type ColumnValue =
  | string
  | number
  | boolean
  | readonly string[]
  | Used
  | null
  | undefined;

/** One property of the objects of a list. */
export interface Column {
  readonly id: ColumnId;
  readonly kind: ColumnKind;
  /** Field that is requested from the server. */
  readonly fields: readonly string[];
  /** The path by which the server sorts; undefined: the column cannot be sorted. */
  readonly sortBy?: string;
  /** Default width in rem. */
  readonly width: number;
  /** Share of the remaining width. */
  readonly grows?: boolean;
  /** Shown by default. */
  readonly isShown?: boolean;
  /** Shown by default if there are several pools, as names of objects are not unique then. */
  readonly isShownOfSeveral?: boolean;
  /** Not shown by default if there are several pools and the window is not wide. */
  readonly isOmittedOfSeveral?: boolean;
  /** Not shown by default if the window is not wide. */
  readonly isShownIfWide?: boolean;
  /** Type of the object whose id the value is. */
  readonly of?: string;
  readonly value: (row: ObjectRow) => ColumnValue;
}

/** Kinds whose digits are aligned. */
const endAligned: ReadonlySet<ColumnKind> = new Set([
  "bytes",
  "rate",
  "number",
  "count",
]);

/** Whether cells are aligned at the end of the line, as numbers are. */
export function isEndAligned({ kind }: Column): boolean {
  return endAligned.has(kind);
}

/** Figures and times are sorted in descending order first. */
export function isHighestFirst({ kind }: Column): boolean {
  return ["share", "used", "rate", "bytes", "time", "age"].includes(kind);
}
