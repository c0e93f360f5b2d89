import type { TestPool } from "./operations-pool.js";
import type { AnswerCase, Call } from "./support/answer-cases.js";
import type { XapiRecord } from "../src/xapi-value.js";

export const none = "OpaqueRef:none";

export function find(
  { db }: TestPool,
  className: string,
  fits: (record: XapiRecord) => boolean = () => true,
): string {
  for (const [ref, record] of db.records(className))
    if (fits(record)) return ref;
  throw new Error(`no ${className} fits`);
}

const coordinator = (pool: TestPool) => pool.context.pool.coordinatorRef();
export const poolRef = (pool: TestPool) => pool.context.pool.poolRef;

/** `POOL`, `HOST`, `VM` and names of classes stand for an object of the pool; `bridge` makes it one without Open vSwitch. */
export function answers(
  row: string,
  call: Call,
  error?: readonly string[],
  bridge = false,
): AnswerCase {
  return {
    row,
    prepare: (pool) => {
      if (bridge)
        for (const host of pool.db.refs("host"))
          pool.db.update("host", host, {
            software_version: { network_backend: "bridge" },
          });
      const words: Readonly<Record<string, () => string>> = {
        POOL: () => poolRef(pool),
        HOST: () => coordinator(pool),
        VM: () => pool.guest("Halted"),
        RUNNING: () => pool.guest("Running"),
        PIF: () => find(pool, "PIF"),
        VMSS: () => find(pool, "VMSS"),
        NFS: () => find(pool, "SR", (sr) => sr["type"] === "nfs"),
      };
      const filled = (word: unknown) =>
        typeof word === "string" ? (words[word]?.() ?? word) : word;
      const [method, ...params] = call;
      return {
        call: [method, ...params.map(filled)] as unknown as Call,
        ...(error === undefined
          ? {}
          : { error: error.map(filled) as readonly string[] }),
      };
    },
  };
}
