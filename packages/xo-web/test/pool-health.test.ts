import t from "tap";
import { poolHealth } from "../src/api/pool-health.js";
import type { PoolStatus, Status } from "../src/api/status.js";

function statusOf(pools: readonly Partial<PoolStatus>[]): Status {
  const whole = pools.map((pool, i): [string, object] => [
    `c${i}`,
    { id: `c${i}`, label: `pool ${i}`, state: "watching", ...pool },
  ]);
  return { pools: Object.fromEntries<object>(whole) } as unknown as Status;
}

t.test("a removed pool is disconnected immediately", (t) => {
  const { lost, lostIds, loading, total } = poolHealth(
    statusOf([
      { pool: "a" },
      { pool: "b", state: "backing-off", staleSince: "2026-01-01T00:00:00Z" },
      // The connection stands, but events are late.
      { pool: "c", staleSince: "2026-01-01T00:00:00Z" },
      { state: "failed" },
      { pool: "d", state: "stopped" },
      { state: "listing" },
      { pool: "e", state: "watching", isLoading: true },
    ]),
  );
  t.same(
    lost.map(({ label }) => label),
    ["pool 1", "pool 2", "pool 3"],
  );
  t.same([...lostIds], ["b", "c"]);
  t.same(
    loading.map(({ label }) => label),
    ["pool 5", "pool 6"],
  );
  t.equal(total, 6, "a disconnected pool is not counted");
  t.end();
});

t.test("pools with warnings are listed, connected or not", (t) => {
  const warnings = [
    { code: "SAME_POOL", message: "…", data: { pool: "pool 2" } },
  ];
  const { warned, lost } = poolHealth(
    statusOf([{ pool: "a", warnings }, { pool: "b", warnings: [] }, {}]),
  );
  t.same(
    warned.map(({ label }) => label),
    ["pool 0"],
  );
  t.same(lost, []);
  t.end();
});

t.test("rows are not drawn again while the same pools are lost", (t) => {
  const one = poolHealth(statusOf([{ pool: "a", state: "backing-off" }]));
  const same = poolHealth(statusOf([{ pool: "a", state: "failed" }]), one);
  t.equal(same.lostIds, one.lostIds);
  const other = poolHealth(statusOf([{ pool: "b", state: "failed" }]), same);
  t.same([...other.lostIds], ["b"]);
  t.same(poolHealth(undefined).lost, []);
  t.end();
});
