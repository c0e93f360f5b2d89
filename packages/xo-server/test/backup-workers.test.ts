import type { Worker } from "@xo-server/backup";
import { setImmediate as turn } from "node:timers/promises";
import t from "tap";
import { Workers } from "../src/backups/repositories/workers.js";
import { FakeClock } from "./fake-clock.js";

/** A process that a file server keeps: it does not end when it is cancelled or killed. */
function hungWorker(): Worker {
  return {
    pid: undefined,
    result: new Promise(() => undefined),
    output: undefined,
    input: undefined,
    cancel: () => undefined,
  };
}

function setUp(maxWorkers: number) {
  const clock = new FakeClock();
  const started: string[] = [];
  const priorities: (number | undefined)[] = [];
  const workers = new Workers({
    clock,
    maxWorkers,
    niceness: 10,
    start({ operation: { type } }, { niceness }) {
      started.push(type);
      priorities.push(niceness);
      return hungWorker();
    },
  });
  return { clock, started, priorities, workers };
}

t.test(
  "a cancelled operation ends although its worker hangs in a mount, and others take its place",
  async (t) => {
    const { clock, started, workers } = setUp(1);
    const controller = new AbortController();
    const { signal } = controller;
    const verification = workers.run(
      { operation: { type: "verify", repair: true } },
      { signal },
    );
    const failed = t.rejects(verification, { code: "ABORTED" });
    await turn();
    void workers.run({ operation: { type: "collect" } });
    controller.abort();
    clock.pass(10_000);
    t.same(started, ["verify"], "the worker has time to end");
    clock.pass(2_000);
    await failed;
    await turn();
    t.same(started, ["verify", "collect"]);
  },
);

t.test("a server stops although a worker hangs in a mount", async (t) => {
  const { clock, workers } = setUp(1);
  const inspection = workers.run({ operation: { type: "inspect" } });
  const failed = t.rejects(inspection, { code: "CLOSED" });
  await turn();
  const stopped = workers.stop();
  clock.pass(5_000);
  await Promise.all([failed, stopped]);
});

t.test(
  "workers for data have a lower priority; those that a user waits for do not",
  async (t) => {
    const { started, priorities, workers } = setUp(1);
    for (const operation of [
      { type: "collect" },
      { type: "export", backup: "b", ova: "", disks: [] },
      { type: "open" },
    ] as const)
      void workers.run({ operation }).catch(() => undefined);
    await turn();
    t.same(started, ["collect", "export", "open"]);
    t.same(priorities, [10, 10, 0]);
  },
);
