import t from "tap";
import { HeldLease } from "../src/cluster/held-lease.js";
import { rollPool } from "../src/rolling/roll-pool.js";
import { RollingRecords } from "../src/rolling/rolling-records.js";

t.test("a record of an earlier version keeps its suspended settings", (t) => {
  const stored = {
    pool: "p",
    since: 1,
    turns: [],
    shutDown: {},
    aside: { autoPoweron: true },
    stopped: "why",
  };
  const store = {
    get: () => stored,
    set: () => Promise.resolve(),
    delete: () => Promise.resolve(),
  };
  const record = new RollingRecords(store).current("p");
  t.match(record, { pool: "p", suspended: { autoPoweron: true } });
  t.notOk("aside" in record!);
  t.end();
});

/** Settings in memory, and the fences of all writes. */
function memory() {
  const values = new Map<string, unknown>();
  const fences: unknown[] = [];
  const records = new RollingRecords({
    get: (key) => values.get(key),
    set: async (key, value, fence) => {
      values.set(key, value);
      fences.push(fence);
    },
    delete: async (key, fence) => {
      values.delete(key);
      fences.push(fence);
    },
  });
  return { records, fences };
}

const fence = { subject: "server/xo1", epoch: 1 };
const takeLease = () => new HeldLease(fence, { now: () => 0 }, Infinity);
const going = { code: "INCORRECT_STATE", data: { actual: "going on" } };
const record = {
  pool: "p",
  since: 1,
  turns: [],
  shutDown: {},
  suspended: {},
  shutdownPinnedVms: false,
};

t.test(
  "a run that another server has taken over does not block later runs of the pool",
  async (t) => {
    const { records } = memory();
    const lease = takeLease();
    let end = () => undefined as void;
    const first = records.alone(
      "p",
      () => new Promise<void>((resolve) => (end = resolve)),
      lease,
    );
    await t.rejects(
      records.alone("p", async () => 1, undefined),
      going,
    );
    lease.lose();
    await new Promise((resolve) => setImmediate(resolve));
    const second = records.alone(
      "p",
      () => new Promise<never>(() => undefined),
      undefined,
    );
    end();
    await first;
    await t.rejects(
      records.alone("p", async () => 1, undefined),
      going,
    );
    void second;
  },
);

t.test("its record is written under the lease of its task", async (t) => {
  const { records, fences } = memory();
  await records.keep(record, takeLease());
  await records.forget("p", takeLease());
  await records.keepLast(
    "p",
    { since: 1, endedAt: 2, hosts: 1, completed: 1 },
    takeLease(),
  );
  t.same(fences, [fence, fence, fence]);
});

t.test(
  "a server that adopts the task of a complete run starts no other run",
  async (t) => {
    const { records } = memory();
    const last = { since: 1, endedAt: 2, hosts: 2, completed: 2, task: "t" };
    await records.keepLast("p", last, undefined);
    const began: string[] = [];
    const roll = (wholeTaskId: string) =>
      rollPool(
        { id: "p" } as never,
        async () => {
          began.push(wholeTaskId);
          throw new Error("enough");
        },
        {
          records,
          work: { wholeTaskId },
          clock: { now: () => 0 },
        } as never,
        { kind: "reboot" },
      );
    await roll("t");
    await t.rejects(roll("other"), { message: "enough" });
    t.same(began, ["other"]);
    await records.keepLast("p", { ...last, stopped: "why" }, undefined);
    t.equal(records.isComplete("p", "t"), false, "it has stopped");
    await records.keepLast("p", last, undefined);
    await records.keep(record, undefined);
    t.equal(records.isComplete("p", "t"), false, "it is in progress");
  },
);
