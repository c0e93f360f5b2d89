import { NULL_REF } from "@xo-server/model";
import type { XapiMap, XapiRecord, XapiValue } from "../xapi-value.js";

/*
 * Reads values whose type the datamodel guarantees: the endpoints validate
 * parameters, and the database contains nothing else.
 */

/** A string, an enum or a reference. */
export function text(record: XapiRecord, name: string): string {
  return record[name] as string;
}

/** An integer; those that a client sent may be bigint. */
export function int(record: XapiRecord, name: string): number {
  return Number(record[name]);
}

/** A boolean; false for a field that the record lacks. */
export function flag(record: XapiRecord, name: string): boolean {
  return record[name] === true;
}

/** A set of references; also used for sets of strings. */
export function refs(record: XapiRecord, name: string): readonly string[] {
  return record[name] as readonly string[];
}

/** A map; not a copy: callers do not change it. */
export function map(record: XapiRecord, name: string): XapiMap {
  return record[name] as XapiMap;
}

/** A reference, or undefined for the null one. */
export function refIn(record: XapiRecord, name: string): string | undefined {
  const ref = record[name] as string;
  return ref === NULL_REF || ref === "" ? undefined : ref;
}

/** A parameter that is a string or a reference in the datamodel. */
export function textParam(params: readonly XapiValue[], index: number): string {
  return params[index] as string;
}

/** An integer parameter, from a number, a bigint or decimal digits; NaN for anything else. */
export function intParam(params: readonly XapiValue[], index: number): number {
  return Number(params[index]);
}

/** A map parameter; empty if the client left it out. */
export function mapParam(params: readonly XapiValue[], index: number): XapiMap {
  return (params[index] ?? {}) as XapiMap;
}

/** A text of a map; empty where there is none. */
export function textIn(map: XapiMap, name: string): string {
  const value = map[name];
  return typeof value === "string" ? value : "";
}

/** A map or record without one of its members. */
export function without(map: XapiMap, name: string): XapiMap {
  return Object.fromEntries(
    Object.entries(map).filter(([key]) => key !== name),
  );
}
