import { XoError } from "@xo-server/model";
import { openStore } from "@xo-server/store";
import t, { type Test } from "tap";
import { HeldLease } from "../src/cluster/held-lease.js";
import { Adoption } from "../src/recovery/adoption.js";
import type { RunningTask } from "../src/tasks/running-task.js";
import { Tasks, type PendingTask } from "../src/tasks/tasks.js";
import { cheapCosts } from "./cheap-costs.js";
import { FakeClock } from "./fake-clock.js";
import { createDatabase } from "./new-database.js";
import { until } from "./peer-servers.js";

const quiet = { warn: () => undefined, info: () => undefined };
const self = { owner: "here", instance: "1 here" };
const unanswered = new XoError("STORE_UNAVAILABLE", { reason: "ECONNRESET" });

/** A server of which another one has ended with a pending task and a run of a job. */
async function setUp(t: Test) {
  const clock = new FakeClock();
  const { location, keyFile } = await createDatabase(t);
  const key = { file: keyFile };
  const store = await openStore({ location, key, clock, ...cheapCosts });
  t.teardown(() => store.close());
  await store.tasks.put({
    id: "t",
    owner: "gone",
    name: "n",
    status: "pending",
    startedAt: 1,
    updatedAt: 1,
    body: {},
  });
  const job = await store.jobs.create({
    type: "call",
    name: "j",
    body: {},
  });
  const run = await store.jobRuns.begin({
    jobId: job.id,
    jobName: "j",
    owner: "gone",
  });
  const taken = (await store.leases.take("server/here", self, 0))!;
  const lease = new HeldLease(taken, clock, Infinity);
  const tasks = new Tasks({
    store: store.tasks,
    ...self,
    clock,
    logger: quiet,
  });
  t.teardown(() => tasks.stop());
  return { clock, store, tasks, lease, runId: run!.id };
}

/** @param fail what happens instead of the first adoption */
function startAdoption(
  t: Test,
  { clock, store, tasks, lease }: Awaited<ReturnType<typeof setUp>>,
  fail: (adopt: () => Promise<unknown>) => Promise<never>,
) {
  const recovered: string[] = [];
  const interrupted: (readonly string[] | undefined)[] = [];
  let attempts = 0;
  const { adoptions } = store;
  const adoption = new Adoption({
    store: {
      leases: store.leases,
      auditChanges: store.auditChanges,
      onClusterNotice: () => () => undefined,
      adoptions: {
        listOrphanOwners: (owner: string) => adoptions.listOrphanOwners(owner),
        listPending: (owner: string) => adoptions.listPending(owner),
        adopt: (...how: Parameters<typeof adoptions.adopt>) =>
          ++attempts === 1
            ? fail(() => adoptions.adopt(...how))
            : adoptions.adopt(...how),
      } as typeof adoptions,
    },
    cluster: {
      self,
      isShared: false,
      isLeaving: false,
      leaseMs: 1_000,
      serverLease: () => lease,
    },
    tasks,
    recovery: {
      recover: async (all) => {
        recovered.push(...all.map(({ task }) => task.id));
      },
    },
    runs: {
      abandon: async ({ ids }) => void interrupted.push(ids),
      interruptDropped: async () => undefined,
    },
    clock,
    logger: quiet,
  });
  t.teardown(() => adoption.stop());
  adoption.start();
  return { recovered, interrupted, attempts: () => attempts };
}

t.test(
  "tasks are continued whose adoption was committed without an answer",
  async (t) => {
    const server = await setUp(t);
    const { recovered, interrupted, attempts } = startAdoption(
      t,
      server,
      async (adopt) => {
        await adopt();
        throw unanswered;
      },
    );
    await until(() => {
      server.clock.pass(100);
      return recovered.length > 0;
    });
    t.same(recovered, ["t"]);
    t.same(interrupted, [[server.runId]]);
    t.equal(attempts(), 1);
  },
);

t.test(
  "tasks whose adoption was not committed are adopted again",
  async (t) => {
    const server = await setUp(t);
    const { recovered, interrupted, attempts } = startAdoption(
      t,
      server,
      async () => {
        throw unanswered;
      },
    );
    await until(() => {
      server.clock.pass(100);
      return recovered.length > 0;
    });
    t.same(recovered, ["t"]);
    t.same(interrupted, [[server.runId]]);
    t.equal(attempts(), 2);
  },
);

t.test(
  "a task whose end is refused after the lease was got back is continued as well",
  async (t) => {
    const { clock, store, lease } = await setUp(t);
    const dropped: PendingTask[] = [];
    const recovered: string[] = [];
    const marked: (readonly string[])[] = [];
    let checks = 0;
    let current = lease;
    const adoption = new Adoption({
      store: {
        leases: store.leases,
        auditChanges: store.auditChanges,
        adoptions: store.adoptions,
        onClusterNotice: () => () => undefined,
      },
      cluster: {
        self,
        isShared: true,
        isLeaving: false,
        leaseMs: 1_000,
        serverLease: () => current,
      },
      tasks: {
        load: () => [],
        loadAdopted: async () => [],
        loadDropped: async () => {
          checks++;
          return dropped.splice(0);
        },
      },
      recovery: {
        recover: async (all) => {
          recovered.push(...all.map(({ task }) => task.id));
        },
      },
      runs: {
        abandon: async () => undefined,
        interruptDropped: async (resumed) => void marked.push(resumed),
      },
      clock,
      logger: quiet,
    });
    t.teardown(() => adoption.stop());
    const untilPassing = (isMet: () => boolean) =>
      until(() => {
        clock.pass(100);
        return isMet();
      });
    lease.lose();
    adoption.start();
    const before = clock.now();
    await untilPassing(() => clock.now() > before + 5_000);
    t.equal(checks, 0, "others may adopt them");
    const fence = (await store.leases.take("server/here", self, 0))!;
    current = new HeldLease(fence, clock, Infinity);
    await untilPassing(() => checks > 0);
    const persistedState = { runId: "r" };
    const task = { id: "late", persistedState } as unknown as RunningTask;
    dropped.push({ task, end: () => undefined });
    await untilPassing(() => recovered.length > 0);
    t.same(recovered, ["late"]);
    t.same(marked.at(-1), ["r"], "its run is not interrupted");
  },
);
