import type { Inventory, XapiRecord } from "@xo-server/inventory";
import { NULL_REF } from "@xo-server/model";

/** Records of one pool, by opaque reference. */
export class PoolRecords {
  readonly #inventory: Pick<Inventory, "list" | "peek" | "column">;
  readonly #pool: string;

  /** @param pool id of the pool connection */
  constructor(
    inventory: Pick<Inventory, "list" | "peek" | "column">,
    pool: string,
  ) {
    this.#inventory = inventory;
    this.#pool = pool;
  }

  list(className: string) {
    return this.#inventory.list(className, { poolId: this.#pool });
  }

  get(className: string, ref: unknown): XapiRecord | undefined {
    return typeof ref === "string" && ref !== NULL_REF
      ? this.#inventory.peek(this.#pool, className, ref)
      : undefined;
  }

  /**
   * One field that the mirror stores as a column: cheaper than reading the
   * record.
   */
  field(className: string, ref: unknown, name: string): unknown {
    if (typeof ref !== "string" || ref === NULL_REF) return undefined;
    const key = { poolId: this.#pool, className, ref };
    return this.#inventory.column(key, name);
  }

  /** UUID of the object of a reference. */
  id(className: string, ref: unknown): string | undefined {
    const uuid = this.field(className, ref, "uuid");
    return typeof uuid === "string" ? uuid : undefined;
  }

  ids(className: string, refs: unknown): string[] {
    return stringsIn(refs).flatMap((ref) => this.id(className, ref) ?? []);
  }
}

/** The strings of an array; none of anything else. */
export function stringsIn(value: unknown): readonly string[] {
  return Array.isArray(value)
    ? value.filter((one: unknown): one is string => typeof one === "string")
    : [];
}

/**
 * XAPI's integers are numbers, strings or BigInt, depending on the transport.
 * @returns 0 for anything that is not a positive number
 */
export function numberIn(value: unknown): number {
  const number = Number(value);
  return Number.isFinite(number) && number > 0 ? number : 0;
}

/** A member of a map of a XAPI record, which may lack it or be malformed. */
export function memberIn(map: unknown, key: string): unknown {
  return typeof map === "object" && map !== null && Object.hasOwn(map, key)
    ? (map as Readonly<Record<string, unknown>>)[key]
    : undefined;
}
