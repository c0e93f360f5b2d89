import { createRequire } from "node:module";

/** A field of a XAPI record. `type` is the datamodel's own notation: `VM ref set`, `(string -> int) map`. */
export interface FieldModel {
  readonly type: string;
  /** Absent: `RO/runtime`. */
  readonly qualifier?: "RW" | "RO/constructor";
  readonly default?: unknown;
  readonly since?: string;
  readonly removed?: boolean;
}

/** A message (method) of a XAPI class. The session is not among `params`. */
export interface MessageModel {
  readonly kind: string;
  /** name, type and, where the parameter is optional, its default. */
  readonly params: readonly (readonly [string, string, unknown?])[];
  /** Absent: void. */
  readonly result?: string;
  /** Has an `Async.` form. */
  readonly async?: boolean;
  readonly sessionless?: boolean;
  readonly removed?: boolean;
  /** The least role that may call it. */
  readonly role?: string;
  readonly since?: string;
}

export interface ClassModel {
  /** Does event.from tell of it? */
  readonly events: boolean;
  readonly database: boolean;
  /** Has `create` and `destroy` taking a whole record. */
  readonly constructible: boolean;
  readonly fields: Readonly<Record<string, FieldModel>>;
  readonly messages: Readonly<Record<string, MessageModel>>;
}

export interface Datamodel {
  readonly apiVersion: string;
  readonly schemaVersion: string;
  readonly enums: Readonly<Record<string, readonly string[]>>;
  /** Error code to the names of its parameters. */
  readonly errors: Readonly<Record<string, readonly string[]>>;
  /** Two sides that XAPI keeps in step: `["VBD.VM", "VM.VBDs"]`. */
  readonly relations: readonly (readonly [string, string])[];
  /** Calls that work on a host in emergency mode. */
  readonly emergencyCalls: readonly string[];
  readonly httpActions: readonly {
    readonly name: string;
    readonly method: string;
    readonly uri: string;
  }[];
  readonly classes: Readonly<Record<string, ClassModel>>;
}

const require = createRequire(import.meta.url);

/** XAPI's data model as on the wire: API 2.23, database schema 5.909. */
export const datamodel =
  require("@xo-server/model/datamodel.json") as Datamodel;
