import type { Json } from "@xo-server/kit";
import type { ObjectRow } from "../../api/object-row.js";

export type Values = Readonly<Record<string, Json>>;

interface FieldBase {
  readonly id: string;
  readonly label: string;
  readonly hint?: string;
  readonly isOptional?: boolean;
  /** Id of another field: if that has a value, this one is required. */
  readonly isRequiredWith?: string;
}

/** Fields of a dialog. */
export type Field =
  | (FieldBase & {
      readonly kind: "text" | "lines";
      readonly initial?: string;
    })
  | (FieldBase & {
      readonly kind: "number";
      readonly initial?: number;
      readonly least?: number;
      readonly most?: number;
    })
  /** Bytes, entered in GiB. */
  | (FieldBase & {
      readonly kind: "size";
      readonly initial?: number;
      readonly least?: number;
    })
  | (FieldBase & { readonly kind: "check"; readonly initial?: boolean })
  | (FieldBase & {
      readonly kind: "choice";
      readonly initial?: string;
      readonly options: readonly {
        readonly id: string;
        readonly label: string;
      }[];
    })
  /** Comma-separated tags. */
  | (FieldBase & {
      readonly kind: "tags";
      readonly initial?: readonly string[];
    })
  /** Path of a folder of VMs: a known one, or a new one. */
  | (FieldBase & { readonly kind: "folder"; readonly initial?: string })
  /** One object, chosen from those that match. */
  | (FieldBase & {
      readonly kind: "object";
      readonly type: string;
      readonly filter?: string;
      /** Of disks: only those on SRs that match. */
      readonly srFilter?: string;
      readonly initial?: string;
      readonly fields?: readonly string[];
      /** Id of a pool: its default SR is chosen at first. */
      readonly defaultOf?: string | undefined;
      /** Further text about each object, such as its free space. */
      readonly more?: (object: ObjectRow) => string;
    });

/** The confirmation of an action. */
export interface ActionForm {
  /** Describes the consequences in a sentence or two. */
  readonly lead?: string;
  readonly fields?: readonly Field[];
  /** Text that must be typed first, because the action cannot be undone. */
  readonly typed?: string;
  /** Default: the action's label. */
  readonly button?: string;
}

/** Initial values of the fields. */
export function initialValues(fields: readonly Field[]): Record<string, Json> {
  const values: Record<string, Json> = {};
  for (const field of fields) values[field.id] = initialOf(field);
  return values;
}

function initialOf(field: Field): Json {
  if (field.kind === "check") return field.initial ?? false;
  if (field.kind === "tags") return [...(field.initial ?? [])];
  return field.initial ?? (field.kind === "choice" ? firstOf(field) : null);
}

function firstOf(field: Field & { readonly kind: "choice" }): Json {
  return field.options[0]?.id ?? null;
}

type FieldProblem = "missing" | "tooSmall" | "tooLarge";

/**
 * Problem of the value of a field.
 * @param others values of the form
 */
export function problemOf(
  field: Field,
  value: Json,
  others: Values = {},
): FieldProblem | undefined {
  // Whether the choice has an option "None".
  if (field.kind === "choice" && field.options.some(({ id }) => id === value))
    return undefined;
  if (isEmpty(value)) {
    const isNeeded =
      field.isRequiredWith !== undefined &&
      !isEmpty(others[field.isRequiredWith] ?? null);
    return field.isOptional === true && !isNeeded ? undefined : "missing";
  }
  if (field.kind !== "number" && field.kind !== "size") return undefined;
  if (typeof value !== "number" || !Number.isFinite(value)) return "missing";
  if (field.least !== undefined && value < field.least) return "tooSmall";
  const most = field.kind === "number" ? field.most : undefined;
  return most !== undefined && value > most ? "tooLarge" : undefined;
}

function isEmpty(value: Json): boolean {
  return value === null || value === "";
}

/** The values, without empty ones. */
export function nonEmptyValues(values: Values): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => !isEmpty(value)),
  );
}
