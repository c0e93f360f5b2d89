/**
 * A value as the simulator stores it: the datamodel determines whether a number
 * is an int or a float, and whether a text is a string, an enum, a reference or
 * a datetime (`20261121T03:54:40Z`). Ints past 2^53 are BigInt. Maps are plain
 * objects with any keys, also `__proto__`: copy them with spread and computed
 * keys, never by assignment.
 */
export type XapiValue =
  | string
  | number
  | bigint
  | boolean
  | readonly XapiValue[]
  | XapiMap;

export interface XapiMap {
  readonly [key: string]: XapiValue;
}

/** A record, read only: change it through Database.update. */
export type XapiRecord = XapiMap;

/** One object of a pool as fleets are made of. */
export interface FleetObject {
  readonly className: string;
  readonly ref: string;
  /** Fields that are missing get the datamodel's default or the empty value of their type. */
  readonly record: XapiRecord;
}
