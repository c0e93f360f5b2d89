import { XoError } from "@xo-server/model";
import type { BalancerRun } from "@xo-server/store";
import t from "tap";
import { PoolRuns } from "../../src/balancer/pool-runs.js";
import type { RunRecord } from "../../src/balancer/run-record.js";

const figures = [{ id: "h" }];
const record = {
  moves: [{ vm: "v", status: "done", endedAt: 2 }],
  figuresBefore: figures,
} as unknown as RunRecord;

/** The runs of the pool "p", of which the database has one, and what is written. */
function setUp(
  status: BalancerRun["status"],
  write: (change: object) => void = () => undefined,
) {
  const run: BalancerRun = {
    id: "r",
    pool: "p",
    owner: "one",
    status,
    startedAt: 1,
    endedAt: 2,
    body: record,
  };
  const written: object[] = [];
  const runs = new PoolRuns({
    pool: "p",
    owner: "one",
    now: () => 10,
    store: {
      balancerRuns: {
        list: async () => ({ runs: [run] }),
        write: async (_id: string, change: object) => {
          write(change);
          written.push(change);
        },
        prune: async () => 0,
      },
    } as never,
  });
  return { run, runs, written };
}

const measured = { figuresBefore: figures } as never;

t.test("the figures that a run has led to are added to it", async (t) => {
  const { runs, written } = setUp("success");
  await runs.noteMeasured(measured);
  t.match(written, [{ body: { figuresMeasured: figures } }]);
});

t.test(
  "an interrupted run is left to the server that ends its task",
  async (t) => {
    const { runs, written } = setUp("interrupted");
    await runs.noteMeasured(measured);
    t.same(written, [], "it may have recorded more than was read before");
  },
);

t.test(
  "what another server has recorded is read again after a refused write",
  async (t) => {
    const { run, runs } = setUp("interrupted", () => {
      throw new XoError("LEASE_LOST", { subject: "server/one" });
    });
    await runs.recent();
    const outcome = { status: "success" as const };
    await t.rejects(runs.end({ ...run, status: "pending" }, record, outcome), {
      code: "LEASE_LOST",
    });
    t.match(await runs.recent(), [{ status: "interrupted" }]);
  },
);
