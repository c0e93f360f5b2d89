import t from "tap";
import {
  observePool,
  type ObservePoolParts,
} from "../../src/balancer/observe-pool.js";
import { RollingRecords } from "../../src/rolling/rolling-records.js";
import type { PoolStatus } from "../../src/status/status.js";
import { MiniCatalog } from "../mini-catalog.js";

const host = (id: string, more: object = {}) => ({
  id,
  type: "host",
  $pool: "pool",
  power_state: "Running",
  enabled: true,
  residentVms: [],
  current_operations: {},
  ...more,
});
const vm = (id: string, more: object = {}) => ({
  id,
  type: "VM",
  tags: [],
  power_state: "Running",
  current_operations: {},
  ...more,
});

function setUp() {
  const objects = new MiniCatalog("pool", "host", "VM", "VM-controller");
  objects.put({ id: "pool", type: "pool" }, { id: "q", type: "pool" });
  const states = { p: "watching" } as Record<string, PoolStatus["state"]>;
  const settings = new Map<string, unknown>();
  const store = {
    get: (key: string) => settings.get(key),
    set: async (key: string, value: unknown) => void settings.set(key, value),
    delete: async (key: string) => void settings.delete(key),
  };
  const received = new Map([["a", 5]]);
  const parts = {
    catalog: objects.catalog,
    inventory: {
      runInSlices: async (_: string, steps: Iterator<unknown>) => {
        while (steps.next().done !== true);
      },
    },
    pools: {
      listSummaries: () =>
        Object.entries(states).map(([id, state]) => ({ id, state })),
    },
    stats: {
      seriesStore: {
        get: (pool: string, id: string) =>
          pool === "pool" && received.has(id)
            ? { receivedAt: received.get(id) }
            : undefined,
      },
    },
    rolling: new RollingRecords(store),
  } as unknown as ObservePoolParts;
  return { objects, parts, settings, states };
}

t.test("hosts and VMs of a pool, and of no other, are seen", async (t) => {
  const { objects, parts } = setUp();
  objects.put(
    host("a", { residentVms: ["dom0", "x", "y", "z", "paused", "gone"] }),
    host("b", { enabled: false, current_operations: { r: "evacuate" } }),
    host("c", { power_state: "Halted" }),
    host("other", { $pool: "q" }),
    { ...host("far"), pool: "elsewhere" },
    { id: "dom0", type: "VM-controller" },
    vm("x", { tags: ["stay"] }),
    vm("y", { current_operations: { t: "pool_migrate" } }),
    vm("z"),
    vm("paused", { power_state: "Paused" }),
  );
  const observation = await observePool("pool", ["stay"], parts);
  const usual = { isUp: true, isEnabled: true, operations: [], vms: 0 };
  t.same(observation, {
    isConnected: true,
    hosts: [
      { ...usual, id: "a", vms: 4, measuredAt: 5 },
      {
        ...usual,
        id: "b",
        isEnabled: false,
        operations: ["evacuate"],
        measuredAt: -Infinity,
      },
      { ...usual, id: "c", isUp: false, measuredAt: -Infinity },
    ],
    moving: ["y"],
    staying: ["x", "y", "paused"],
  });
});

t.test("nothing is known of a disconnected pool", async (t) => {
  const { parts, states } = setUp();
  t.equal((await observePool("unknown", [], parts)).isConnected, false);
  t.equal((await observePool("pool", [], parts)).isConnected, true);
  states["p"] = "failed";
  t.equal((await observePool("pool", [], parts)).isConnected, false);
});

t.test(
  "a rolling reboot is detected until it has ended or stopped",
  async (t) => {
    const { parts, settings } = setUp();
    const since = async () =>
      (await observePool("pool", [], parts)).rollingSince;
    t.equal(await since(), undefined);
    settings.set("rolling-reboot/pool", { since: 7 });
    t.equal(await since(), 7, "also when its server has died");
    settings.set("rolling-reboot/pool", { since: 7, stopped: "b: no" });
    t.equal(await since(), undefined);
    settings.delete("rolling-reboot/pool");
    t.equal(await since(), undefined);
  },
);
