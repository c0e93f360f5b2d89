import type { Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import { isSet } from "../../vms/xapi-records.js";

export type XapiRecord = Readonly<Record<string, unknown>>;
type Caller = Pick<Xapi, "call">;

/**
 * Reads the current record from XAPI.
 * @throws XapiError HANDLE_INVALID: it does not exist
 */
export async function read(
  xapi: Caller,
  className: string,
  ref: Ref,
): Promise<XapiRecord> {
  return (await xapi.call(`${className}.get_record`, [ref])) as XapiRecord;
}

/** Records by reference. */
export async function readAll(
  xapi: Caller,
  className: string,
  refs: readonly Ref[],
): Promise<ReadonlyMap<Ref, XapiRecord>> {
  const unique = [...new Set(refs)].filter(isSet);
  const records = await Promise.all(
    unique.map(async (ref) => [ref, await read(xapi, className, ref)] as const),
  );
  return new Map(records);
}

/** A string or a reference; empty if missing. */
export function textOf(record: XapiRecord | undefined, key: string): string {
  const value = record?.[key];
  return typeof value === "string" ? value : "";
}

/** A size in bytes; XAPI sends 64-bit integers as strings. 0: missing. */
export function sizeOf(record: XapiRecord | undefined, key: string): number {
  return Number(record?.[key] ?? 0);
}

/** A set of references; empty if missing. */
export function refsOf(record: XapiRecord, key: string): readonly Ref[] {
  const value = record[key];
  return Array.isArray(value) ? (value as readonly Ref[]) : [];
}

/** A map of strings, such as other_config; empty if missing. */
export function mapOf(
  record: XapiRecord | undefined,
  key: string,
): Readonly<Record<string, string>> {
  const value = record?.[key];
  return typeof value === "object" && value !== null
    ? (value as Readonly<Record<string, string>>)
    : {};
}
