import t from "tap";
import type { ViewObject } from "@xo-server/inventory";
import type { RunCaller } from "../src/jobs/caller.js";
import {
  SnapshotPolicy,
  type PolicyParts,
} from "../src/jobs/snapshot-policy.js";
import type { Retention } from "../src/jobs/retention.js";
import { FakeClock } from "./fake-clock.js";

const DAY = 86_400_000;

/** One VM whose snapshots are in memory, and a job that takes them. */
class FakeVm {
  readonly clock = new FakeClock();
  readonly #other = new Map<string, Record<string, string>>();
  readonly #retention: Retention;
  #count = 0;

  constructor(retention: Retention) {
    this.#retention = retention;
  }

  /** In the order in which they were taken. */
  get snapshots(): string[] {
    return [...this.#other.keys()];
  }

  async runJob(): Promise<void> {
    const calls: Record<string, (id: string) => string | true> = {
      "vm.snapshot": () => {
        const id = `snapshot ${++this.#count}`;
        this.#other.set(id, {});
        return id;
      },
      "vm.delete": (id) => this.#other.delete(id) || true,
    };
    const caller = {
      isOver: false,
      user: () => ({ isAdmin: true }),
      call: async (method: string, { id }: { id: string }) =>
        calls[method]!(id),
    };
    await this.#policy.run(caller as unknown as RunCaller);
  }

  /** Names of the snapshots that the next run deletes. */
  async planned(): Promise<string[]> {
    const [plan] = await this.#policy.plan({} as never);
    return plan!.delete.map(({ name }) => name);
  }

  /** Marks of a version that did not record the order. */
  forgetOrders(): void {
    for (const other of this.#other.values())
      delete other["xo:snapshot-policy:order"];
  }

  get #policy(): SnapshotPolicy {
    const vm = () => ({ id: "vm", type: "VM", snapshots: this.snapshots });
    const snapshot = (id: string) => ({
      id,
      uuid: id,
      name_label: id,
      $snapshot_of: "vm",
      other: this.#other.get(id),
    });
    const call = async (method: string, params: string[]) => {
      const [id, key, value] = params as [string, string, string];
      const other = this.#other.get(id)!;
      if (method === "VM.add_to_other_config") other[key] = value;
      else delete other[key];
    };
    const parts = {
      clock: this.clock,
      catalog: {
        get: () => ({ type: "VM", json: Buffer.from(JSON.stringify(vm())) }),
      },
      objects: {
        get: (id: string) => ({
          ref: id,
          object: (id === "vm" ? vm() : snapshot(id)) as ViewObject,
          xapi: { call },
        }),
      },
    };
    return new SnapshotPolicy(parts as unknown as PolicyParts, {
      jobId: "job",
      jobName: "nightly",
      body: { vms: ["vm"], retention: this.#retention },
      timezone: "UTC",
    });
  }
}

t.test(
  "after a clock was set back the snapshots that were taken last are kept",
  async (t) => {
    const vm = new FakeVm({ keepLast: 2 });
    vm.clock.shift(30 * DAY);
    await vm.runJob();
    await vm.runJob();
    vm.clock.shift(-30 * DAY);
    await vm.runJob();
    t.same(vm.snapshots, ["snapshot 2", "snapshot 3"]);
    vm.clock.shift(DAY);
    t.same(await vm.planned(), ["snapshot 2"]);
    await vm.runJob();
    t.same(vm.snapshots, ["snapshot 3", "snapshot 4"]);
    vm.clock.shift(DAY);
    await vm.runJob();
    t.same(vm.snapshots, ["snapshot 4", "snapshot 5"]);
  },
);

t.test(
  "snapshots of a version that did not record the order are older",
  async (t) => {
    const vm = new FakeVm({ keepLast: 2 });
    await vm.runJob();
    vm.clock.shift(DAY);
    await vm.runJob();
    vm.forgetOrders();
    vm.clock.shift(-2 * DAY);
    await vm.runJob();
    t.same(vm.snapshots, ["snapshot 2", "snapshot 3"]);
    await vm.runJob();
    t.same(vm.snapshots, ["snapshot 3", "snapshot 4"]);
  },
);

t.test("periods follow the dates of the snapshots", async (t) => {
  const vm = new FakeVm({ keepDaily: 2 });
  for (let i = 0; i < 4; i++) {
    await vm.runJob();
    vm.clock.shift(DAY / 2);
  }
  t.same(vm.snapshots, ["snapshot 2", "snapshot 4"]);
});
