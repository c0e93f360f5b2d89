import { createRequire } from "node:module";

/**
 * A field of a XAPI class. `type` uses the notation of the data model: `VM ref
 * set`, `(string -> int) map`.
 */
export interface FieldModel {
  readonly type: string;
  /** Absent: `RO/runtime`. */
  readonly qualifier?: "RW" | "RO/constructor";
  readonly default?: unknown;
  readonly since?: string;
  readonly removed?: boolean;
}

/** A message (method) of a XAPI class. `params` does not contain the session. */
export interface MessageModel {
  readonly kind: string;
  /** Name, type and, for optional parameters, the default. */
  readonly params: readonly (readonly [string, string, unknown?])[];
  /** Absent: void. */
  readonly result?: string;
  /** Whether the message has an `Async.` variant. */
  readonly async?: boolean;
  readonly sessionless?: boolean;
  readonly removed?: boolean;
  /** The least privileged role that may call it. */
  readonly role?: string;
  readonly since?: string;
}

export interface ClassModel {
  /** Whether event.from reports the class. */
  readonly events: boolean;
  readonly database: boolean;
  /** Whether it has `create` and `destroy` with a whole record. */
  readonly constructible: boolean;
  readonly fields: Readonly<Record<string, FieldModel>>;
  readonly messages: Readonly<Record<string, MessageModel>>;
}

export interface Datamodel {
  readonly apiVersion: string;
  readonly schemaVersion: string;
  readonly enums: Readonly<Record<string, readonly string[]>>;
  /** Names of parameters by error code. */
  readonly errors: Readonly<Record<string, readonly string[]>>;
  /** Pairs of fields that XAPI keeps consistent: `["VBD.VM", "VM.VBDs"]`. */
  readonly relations: readonly (readonly [string, string])[];
  /** Calls that a host in emergency mode accepts. */
  readonly emergencyCalls: readonly string[];
  readonly httpActions: readonly {
    readonly name: string;
    readonly method: string;
    readonly uri: string;
  }[];
  readonly classes: Readonly<Record<string, ClassModel>>;
}

const require = createRequire(import.meta.url);

let loaded: Datamodel | undefined;

/** 5 ms and 1 MiB of heap: a server without pools does not load it. */
function load(): Datamodel {
  loaded ??= require("@xo-server/model/datamodel.json") as Datamodel;
  return loaded;
}

/**
 * XAPI's data model as used on the wire: API 2.23, database schema 5.909. The
 * first use of a property loads it.
 */
export const datamodel: Datamodel = {
  get apiVersion() {
    return load().apiVersion;
  },
  get schemaVersion() {
    return load().schemaVersion;
  },
  get enums() {
    return load().enums;
  },
  get errors() {
    return load().errors;
  },
  get relations() {
    return load().relations;
  },
  get emergencyCalls() {
    return load().emergencyCalls;
  },
  get httpActions() {
    return load().httpActions;
  },
  get classes() {
    return load().classes;
  },
};
