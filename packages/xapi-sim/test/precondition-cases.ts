import t from "tap";
import { createTestPool, type TestPool } from "./operations-pool.js";
import type { XapiRecord, XapiValue } from "../src/xapi-value.js";

type Call = readonly [method: string, ...params: XapiValue[]];
type Case = readonly [
  title: string,
  /** Prepares; the call that fails, and with what. */
  broken: (pool: TestPool) => {
    readonly call: Call;
    readonly error: readonly string[];
  },
];

export type Texts = readonly string[];

export function find(
  { db }: TestPool,
  className: string,
  fits: (record: XapiRecord, ref: string) => boolean,
): string {
  for (const [ref, record] of db.records(className))
    if (fits(record, ref)) return ref;
  throw new Error(`no ${className} fits`);
}

export const nfs = (pool: TestPool) =>
  find(pool, "SR", (sr) => sr["type"] === "nfs" && sr["shared"] === true);
export const coordinator = (pool: TestPool) =>
  pool.context.pool.coordinatorRef();

/** A VBD of a guest in this state. */
export function vbdOf(pool: TestPool, state: string, type = "Disk"): string {
  const vm = pool.guest(state);
  return (pool.vm(vm)["VBDs"] as Texts).find(
    (ref) => pool.db.get("VBD", ref)["type"] === type,
  )!;
}

/** Each call fails on a pool of its own, and changes nothing. */
export function checkCases(cases: readonly Case[]): void {
  for (const [title, broken] of cases)
    t.test(title, async (t) => {
      const pool = createTestPool();
      const { call, error } = broken(pool);
      pool.changes();
      const failed = await pool.failure(...call);
      t.strictSame(failed.slice(0, error.length), error);
      const changed = pool
        .changes()
        .filter((change) => !/VM$|VBD$|VIF$|VDI$/.test(change));
      t.strictSame(changed, [], "nothing has changed");
    });
}
