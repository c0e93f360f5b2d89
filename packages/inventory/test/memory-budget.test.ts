import t from "tap";
import {
  answerBudget,
  machineMemory,
  memoryBudget,
} from "@xo-server/inventory";

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;

const machine = {
  totalBytes: 16 * GIB,
  constrainedBytes: 0,
  heapLimitBytes: 4 * GIB,
};

t.test("caches get shares of the heap and of the memory", async (t) => {
  t.same(
    memoryBudget({ ...machine, totalBytes: 4 * GIB, heapLimitBytes: GIB }),
    {
      recordCacheBytes: 64 * MIB,
      viewCacheBytes: 512 * MIB,
      feedBytes: 64 * MIB,
      columnBytes: 128 * MIB,
      ringSize: Math.floor((4 * MIB) / 74),
    },
  );
});

t.test("a control group's limit counts as the memory", async (t) => {
  const small = memoryBudget({ ...machine, constrainedBytes: GIB });
  t.same(small, memoryBudget({ ...machine, totalBytes: GIB }));
  t.ok(small.viewCacheBytes < memoryBudget(machine).viewCacheBytes);
  t.same(
    // What Node gives where there is no limit.
    memoryBudget({ ...machine, constrainedBytes: 2 ** 64 }),
    memoryBudget(machine),
  );
});

t.test("the heap limit does not exceed the memory", async (t) => {
  const heapLimitBytes = 512 * MIB;
  t.equal(
    memoryBudget({ ...machine, constrainedBytes: 512 * MIB }).columnBytes,
    memoryBudget({ ...machine, heapLimitBytes }).columnBytes,
  );
});

t.test(
  "small machines cache little, huge ones no more than useful",
  async (t) => {
    const least = memoryBudget({
      totalBytes: 1,
      constrainedBytes: 0,
      heapLimitBytes: 1,
    });
    const most = memoryBudget({
      totalBytes: 2 ** 50,
      constrainedBytes: 0,
      heapLimitBytes: 2 ** 50,
    });
    for (const key of Object.keys(least) as (keyof typeof least)[]) {
      t.ok(least[key] > 0, key);
      t.ok(most[key] > 4 * least[key], key);
      t.ok(most[key] <= GIB, key);
    }
  },
);

t.test(
  "on usual machines all caches together leave room for the rest",
  async (t) => {
    for (const gigabytes of [1, 2, 4, 8, 16, 64]) {
      const totalBytes = gigabytes * GIB;
      // As Node 20 chooses it.
      const heapLimitBytes = Math.min(4 * GIB, totalBytes / 2);
      const budget = memoryBudget({ ...machine, totalBytes, heapLimitBytes });
      const heap = budget.recordCacheBytes + budget.columnBytes;
      const ring = budget.ringSize * 74;
      t.ok(heap <= heapLimitBytes / 5, `${gigabytes} GiB`);
      t.ok(
        budget.viewCacheBytes + budget.feedBytes + ring <= totalBytes / 6,
        `${gigabytes} GiB`,
      );
    }
  },
);

t.test("responses of pools are bounded by the memory", async (t) => {
  t.same(answerBudget({ totalBytes: 4 * GIB, constrainedBytes: 0 }), {
    listingBytes: 256 * MIB,
    valueBytes: 32 * MIB,
  });
  t.same(answerBudget({ totalBytes: 64 * GIB, constrainedBytes: GIB }), {
    listingBytes: 128 * MIB,
    valueBytes: 16 * MIB,
  });
});

t.test("this machine has memory", async (t) => {
  const { totalBytes, heapLimitBytes } = machineMemory();
  t.ok(totalBytes > 0 && heapLimitBytes > 0);
  t.ok(memoryBudget(machineMemory()).ringSize > 1000);
});
