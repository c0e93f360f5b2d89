import t from "tap";
import {
  toMemoryCalls,
  toMemoryLimits,
  type MemoryLimits,
} from "../src/vms/parameters/memory-limits.js";

const now: MemoryLimits = {
  staticMin: 1,
  dynamicMin: 2,
  dynamicMax: 4,
  staticMax: 8,
};

t.test("a halted VM gets exactly the requested memory", async (t) => {
  const next = toMemoryLimits(now, { max: 6 }, false);
  t.same(next, { staticMin: 1, dynamicMin: 6, dynamicMax: 6, staticMax: 6 });
  t.same(toMemoryCalls(now, next), [["set_memory_limits", "1", "6", "6", "6"]]);
});

t.test("a running VM keeps its static limits", async (t) => {
  const next = toMemoryLimits(now, { max: 6 }, true);
  t.same(next, { staticMin: 1, dynamicMin: 2, dynamicMax: 6, staticMax: 8 });
  t.same(toMemoryCalls(now, next), [["set_memory_dynamic_range", "2", "6"]]);
});

t.test("unnamed rules are replaced", async (t) => {
  t.match(toMemoryLimits(now, { min: 3 }, false), { dynamicMin: 3 });
  t.match(toMemoryLimits(now, { staticMax: 3 }, false), {
    dynamicMin: 2,
    dynamicMax: 3,
    staticMax: 3,
  });
  t.match(toMemoryLimits(now, { max: 1 }, true), { dynamicMin: 1 });
  t.same(toMemoryCalls(now, toMemoryLimits(now, { max: 4 }, true)), []);
});

t.test("nothing with that name runs", async (t) => {
  for (const request of [
    { min: 5 },
    { min: 3, max: 2 },
    { max: 9, staticMax: 8 },
  ])
    t.throws(() => toMemoryLimits(now, request, false), {
      code: "INVALID_PARAMETERS",
    });
});

t.test("the four are in order, whatever is requested", async (t) => {
  // A linear congruential generator: the same requests in each run.
  let seed = 4;
  t.comment(`seed ${seed}`);
  const random = () => {
    seed = (seed * 1103515245 + 12345) % 2 ** 31;
    return seed % 3 === 0 ? undefined : 1 + (seed % 10);
  };
  for (let i = 0; i < 2000; i++) {
    const request = { min: random(), max: random(), staticMax: random() };
    let next: MemoryLimits;
    try {
      next = toMemoryLimits(now, request, i % 2 === 0);
    } catch {
      continue;
    }
    const { staticMin, dynamicMin, dynamicMax, staticMax } = next;
    const all = [staticMin, dynamicMin, dynamicMax, staticMax];
    if (all.some((value, at) => at > 0 && value < all[at - 1]!))
      t.fail(JSON.stringify({ request, next }));
    for (const [key, value] of [
      [dynamicMin, request.min],
      [dynamicMax, request.max],
      [staticMax, request.staticMax],
    ] as const)
      if (value !== undefined && key !== value)
        t.fail(JSON.stringify({ request, next }));
  }
});
