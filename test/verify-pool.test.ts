import t from "tap";
import { startControlled } from "./controlled-pools.js";

// Real pools on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 120_000 };
t.comment("timeout=120000");

interface Verification {
  readonly classes: number;
  readonly records: number;
  readonly differing: number;
  readonly differences: readonly {
    readonly className: string;
    readonly ref: string;
    readonly kind: string;
    readonly fields: readonly string[];
  }[];
  readonly failed: readonly object[];
}

t.test("a pool is compared with the mirror", LIMIT, async (t) => {
  const { api, pools } = await startControlled(t, { hosts: 2, vms: 5 });
  const [pool] = pools;
  const { database } = pool!;
  const [id] = [...database.records("pool")].map(([, one]) => one["uuid"]);
  const verify = (params: object = {}) =>
    api.request("pool.verify", { id, ...params }) as Promise<Verification>;

  t.test("nothing differs", async (t) => {
    const result = await verify();
    t.match(result, { differing: 0, differences: [], failed: [] });
    t.ok(result.classes > 20);
    t.ok(result.records > 50);
  });

  t.test("deletions that the pool does not report are found", async (t) => {
    for (let i = 0; i < 1_000; i++)
      database.create("message", { name: "m", cls: "VM" });
    await t.resolves(verify({ classes: ["message"] }));
    // More events than the pool retains: the deletions of some are dropped.
    for (const ref of [...database.refs("message")].slice(0, 900))
      database.destroy("message", ref);
    const first = await verify({ classes: ["message"] });
    t.equal(first.classes, 1);
    t.ok(first.differing > 100);
    t.match(first.differences[0], { className: "message", kind: "deleted" });
    t.match(await verify({ classes: ["message"] }), { differing: 0 });
  });

  t.test("REST", async (t) => {
    const answer = await api.rest(
      "POST",
      `/pools/${id as string}/actions/verify?sync=true`,
      { classes: ["VM"] },
    );
    t.equal(answer.status, 200);
    t.match(await answer.json(), { classes: 1, differing: 0 });
  });
});
