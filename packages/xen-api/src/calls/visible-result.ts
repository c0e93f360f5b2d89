import { datamodel, XapiError, type Ref } from "@xo-server/model";
import { CREATION_MARK } from "./creation-mark.js";

/** Reads from the pool. @throws XapiError, XoError */
type Read = (method: string, params: readonly unknown[]) => Promise<unknown>;

/** A result that was found in the state of the pool. */
export interface FoundResult {
  readonly value: unknown;
}

/**
 * Searches the result of an action in the state of the pool.
 * @returns undefined: the action was not executed, or not yet
 * @throws XapiError, XoError
 */
export type ResultLookup = (read: Read) => Promise<FoundResult | undefined>;

/** Void. */
const DONE: FoundResult = { value: "" };

/** Objects that are unique at a position: for example, a VM has one VBD with a number. */
const UNIQUE_POSITIONS: Readonly<
  Record<string, { in: string; list: string; by: readonly string[] }>
> = {
  VBD: { in: "VM", list: "VM.get_VBDs", by: ["userdevice", "VDI"] },
  VIF: { in: "VM", list: "VM.get_VIFs", by: ["device", "network"] },
  PBD: { in: "SR", list: "SR.get_PBDs", by: ["host"] },
};

/** Fields that an action without a value sets. */
const SWITCHES: Readonly<Record<string, Written>> = {
  "host.enable": ["enabled", is(true)],
  "host.disable": ["enabled", is(false)],
  "VDI.enable_cbt": ["cbt_enabled", is(true)],
  "VDI.disable_cbt": ["cbt_enabled", is(false)],
};

/**
 * How the result of an action can be read from the pool, if its answer is lost.
 * @param params without the session
 * @returns undefined: it is not visible
 */
export function visibleResult(
  method: string,
  params: readonly unknown[],
): ResultLookup | undefined {
  const [className = "", message = ""] = method.split(".");
  const [self] = params;
  if (message === "create") return createdIn(className, self);
  if (typeof self !== "string") return undefined;
  if (method === "SR.introduce")
    return async (read) => ({ value: await read("SR.get_by_uuid", [self]) });
  if (message === "destroy") return destroyed(className, self);
  const [field, isMet] = SWITCHES[method] ?? writtenField(message, params);
  const getter = `get_${field}`;
  if (!hasMessage(className, getter)) return undefined;
  return async (read) =>
    isMet(await read(`${className}.${getter}`, [self])) ? DONE : undefined;
}

/** A field, and whether it has the value that was written. */
type Written = readonly [field: string, isMet: (value: unknown) => boolean];

function is(requested: unknown): Written[1] {
  return (value) => isSame(value, requested);
}

/** The field that a setter, or a change of one entry of a map or set, has written. */
function writtenField(message: string, params: readonly unknown[]): Written {
  const [, verb = "", field = ""] =
    /^(set|add_to|add|remove_from|remove)_(.*)$/.exec(message) ?? [];
  const [, second, third] = params;
  switch (`${verb}/${params.length}`) {
    case "set/2":
      return [field, is(second)];
    case "add_to/3":
      return [field, (map) => isSame(entryOf(map, second), third)];
    case "remove_from/2":
      return [field, (map) => entryOf(map, second) === undefined];
    case "add/2":
      return [field, (set) => isIn(set, second)];
    case "remove/2":
      return [field, (set) => !isIn(set, second)];
    default:
      return ["", () => false];
  }
}

function destroyed(className: string, ref: Ref): ResultLookup | undefined {
  const getter = ["get_uuid", "get_record"].find((name) =>
    hasMessage(className, name),
  );
  if (getter === undefined) return undefined;
  return async (read) => {
    try {
      await read(`${className}.${getter}`, [ref]);
      return undefined;
    } catch (error) {
      if (error instanceof XapiError && error.code === "HANDLE_INVALID")
        return DONE;
      throw error;
    }
  };
}

/** @param record the only parameter of `create` */
function createdIn(
  className: string,
  record: unknown,
): ResultLookup | undefined {
  const position = UNIQUE_POSITIONS[className];
  if (position === undefined) return createdWithMark(className, record);
  const requested = [position.in, ...position.by].map((name) =>
    entryOf(record, name),
  );
  // The pool chooses the number if none is given.
  if (requested.includes(undefined) || requested.includes("autodetect"))
    return undefined;
  return async (read) => {
    const refs = await read(position.list, [requested[0]]);
    for (const ref of Array.isArray(refs) ? (refs as Ref[]) : []) {
      const found = await read(`${className}.get_record`, [ref]);
      const values = position.by.map((name) => entryOf(found, name));
      if (isSame(values, requested.slice(1))) return { value: ref };
    }
    return undefined;
  };
}

/** @param record the only parameter of `create` */
function createdWithMark(
  className: string,
  record: unknown,
): ResultLookup | undefined {
  const name = entryOf(record, "name_label");
  const mark = entryOf(entryOf(record, "other_config"), CREATION_MARK);
  if (name === undefined || mark === undefined) return undefined;
  return async (read) => {
    const refs = await read(`${className}.get_by_name_label`, [name]);
    for (const ref of Array.isArray(refs) ? (refs as Ref[]) : []) {
      const found = await read(`${className}.get_other_config`, [ref]);
      if (entryOf(found, CREATION_MARK) === mark) return { value: ref };
    }
    return undefined;
  };
}

function hasMessage(className: string, message: string): boolean {
  const messages = datamodel.classes[className]?.messages;
  return messages !== undefined && Object.hasOwn(messages, message);
}

function entryOf(map: unknown, key: unknown): unknown {
  return typeof map === "object" &&
    map !== null &&
    Object.hasOwn(map, String(key))
    ? (map as Readonly<Record<string, unknown>>)[String(key)]
    : undefined;
}

function isIn(set: unknown, value: unknown): boolean {
  return Array.isArray(set) && set.some((one) => isSame(one, value));
}

/** Numbers are sent as text; sets have no order. */
function isSame(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((one) => isIn(b, one));
  if (
    typeof a === "object" &&
    typeof b === "object" &&
    a !== null &&
    b !== null
  )
    return (
      Object.keys(a).length === Object.keys(b).length &&
      Object.entries(a).every(([key, value]) => isSame(value, entryOf(b, key)))
    );
  return isScalar(a) && isScalar(b) && String(a) === String(b);
}

function isScalar(value: unknown): value is string | number | bigint | boolean {
  return ["string", "number", "bigint", "boolean"].includes(typeof value);
}
