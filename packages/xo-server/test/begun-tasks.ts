import type { Xapi } from "@xo-server/xen-api";
import type { Test } from "tap";
import { HeldLease } from "../src/cluster/held-lease.js";
import { PoolObjects } from "../src/objects/pool-objects.js";
import { Tasks } from "../src/tasks/tasks.js";
import { FakeClock } from "./fake-clock.js";
import { FakeTaskStore } from "./fake-task-store.js";

export const admin = { id: "a", isAdmin: true };
export const ada = { id: "u", isAdmin: false };

export function setUp(t: Test, shared = false, lease?: HeldLease) {
  const store = new FakeTaskStore();
  const clock = new FakeClock();
  const open = (owner: string) => {
    const tasks = new Tasks({
      store,
      clock,
      owner,
      isShared: shared,
      ...(lease === undefined ? {} : { lease: () => lease }),
      logger: { warn: () => undefined },
    });
    t.teardown(() => {
      tasks.stop();
    });
    return tasks;
  };
  return { store, clock, open, tasks: open("here") };
}

/** Work that continues until the test ends it. */
export async function begin(tasks: Tasks, userId = "u", name = "start") {
  let end!: (result?: unknown) => void;
  let fail!: (error: Error) => void;
  const task = tasks.prepare({
    name,
    objectType: "VM",
    objectId: "v",
    userId,
    params: {},
  });
  const result = new Promise((resolve, reject) => {
    end = resolve;
    fail = reject;
  });
  await tasks.follow(task, result);
  return { id: task.id, work: task.node, end, fail };
}

export const settle = () => new Promise(setImmediate);

/** One VM, "v", of a pool. */
export function objectsOn(xapi: Xapi): PoolObjects {
  const json = Buffer.from(JSON.stringify({ id: "v", type: "VM" }));
  const get = (id: string) => ({ id, type: "VM", pool: "p", json });
  const catalog = { get, poolOf: () => "p", classOf: () => "VM" };
  return new PoolObjects(catalog, { xapi: () => xapi });
}
