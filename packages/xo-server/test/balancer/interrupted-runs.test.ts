import type { BalancerRun } from "@xo-server/store";
import t from "tap";
import {
  endInterruptedRun,
  movesOf,
} from "../../src/balancer/interrupted-runs.js";
import type { FoundObject } from "../../src/objects/found-object.js";
import type { MoveRecord } from "../../src/balancer/run-record.js";

const NOW = 1_000;

/** A run of the pool "p" whose server ended, and VMs on hosts. */
function setUp(
  run: Pick<BalancerRun, "status" | "taskId">,
  hosts: Readonly<Record<string, string>>,
) {
  const moves = (["done", "migrating", "migrating", "waiting"] as const).map(
    (status, i) => ({ vm: `v${i}`, from: "a", to: "b", status }) as MoveRecord,
  );
  const stored: BalancerRun = {
    id: "r",
    pool: "p",
    owner: "one",
    startedAt: 1,
    body: { moves },
    ...run,
  };
  const written: object[] = [];
  const parts = {
    store: {
      balancerRuns: {
        list: async () => ({ runs: [stored] }),
        write: async (id: string, change: object) => {
          written.push({ id, ...change });
        },
      },
    },
    objects: {
      find: (id: string) =>
        ({ object: { $container: hosts[id] } }) as unknown as FoundObject,
    },
    clock: { now: () => NOW },
  };
  const end = async (
    task: { id: string; operation?: string; params?: object },
    untilReady = async () => undefined,
  ) => {
    const { id, params = {}, operation } = task;
    const subject = {
      name: "load balancer",
      objectType: "pool",
      objectId: "p",
      userId: undefined,
      params,
      ...(operation === undefined ? {} : { operation }),
    };
    await endInterruptedRun({ id, subject }, untilReady, parts as never);
    return written;
  };
  return { stored, end, written };
}

const statuses = (moves: readonly MoveRecord[]) =>
  moves.map(({ status }) => status);

t.test(
  "a migration that the pool has completed since is done, one without a known outcome is interrupted",
  async (t) => {
    const { end, written } = setUp(
      { status: "pending", taskId: "t" },
      { v0: "b", v1: "b", v2: "a" },
    );
    await end({ id: "t" }, async () => {
      t.same(written, [], "the XAPI tasks have ended first");
    });
    t.match(written, [
      { id: "r", status: "interrupted", endedAt: NOW, body: { moves: Array } },
    ]);
    const [{ body }] = written as [{ body: { moves: MoveRecord[] } }];
    t.same(statuses(body.moves), ["done", "done", "interrupted", "skipped"]);
    t.equal(body.moves[1]!.endedAt, NOW);
  },
);

t.test("the run of a task is found in each way that it is known", async (t) => {
  const pending = { status: "pending" } as const;
  for (const task of [
    { id: "t", params: { run: "r" } },
    { id: "t", operation: "balancer.run" },
  ])
    t.equal((await setUp(pending, {}).end(task)).length, 1);
  const ofOther = { ...pending, taskId: "another" };
  t.same(await setUp(ofOther, {}).end({ id: "t" }), []);
  t.same(
    await setUp(ofOther, {}).end({ id: "t", operation: "balancer.run" }),
    [],
  );
  const ended = { status: "success", taskId: "t" } as const;
  t.same(await setUp(ended, {}).end({ id: "t" }), [], "it had ended");
});

t.test("no migration of a run that has ended is in progress", async (t) => {
  const { stored } = setUp({ status: "interrupted" }, {});
  t.same(statuses(movesOf(stored)), [
    "done",
    "interrupted",
    "interrupted",
    "skipped",
  ]);
  t.same(statuses(movesOf({ ...stored, status: "pending" })), [
    "done",
    "migrating",
    "migrating",
    "waiting",
  ]);
});
