import type { PoolModel } from "@xo-server/placement";
import t from "tap";
import { Planner } from "../../src/placement/planner.js";
import { FakeClock } from "../fake-clock.js";
import { slices } from "./slices.js";

const GIB = 2 ** 30;

function model(hosts: number, vms: number): PoolModel {
  return {
    hosts: Array.from({ length: hosts }, (_, i) => ({
      id: `h${i}`,
      state: "up" as const,
      memory: 64 * GIB,
      cores: 16,
      networks: ["n"],
      srs: ["s"],
    })),
    vms: Array.from({ length: vms }, (_, i) => ({
      id: `v${i}`,
      memory: GIB,
      vcpus: 1,
      srs: ["s"],
      networks: ["n"],
    })),
  };
}

/** In a thread that does this instead of planning. */
function fileOf(code: string): URL {
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
}

t.test("a plan from the thread is complete", async (t) => {
  const sliced = slices();
  const planner = new Planner({ inventory: sliced, clock: new FakeClock() });
  t.teardown(() => planner.stop());
  const input = model(10, 600);
  const plan = await planner.starts(input);
  t.equal(plan.actions.length, 600);
  t.equal(new Set(plan.actions.map(({ vm }) => vm)).size, 600);
  t.ok(plan.actions.every(({ score }) => Number.isFinite(score.headroom)));
  t.ok(sliced.steps > 20, "in pieces");

  t.test("a model that it has is not sent again", async (t) => {
    const before = sliced.steps;
    const placement = await planner.place(input, "v1");
    t.equal(placement.candidates.length, 10);
    t.ok(sliced.steps - before < 8);
  });

  t.test(
    "required host affinities (infinite scores) reach the planner",
    async (t) => {
      const only = { id: "only", vms: ["v0"], hosts: ["h3"], score: Infinity };
      const bound = { ...input, hostAffinities: [only] };
      const placement = await planner.place(bound, "v0");
      t.equal(placement.host, "h3");
      t.match(placement.candidates.at(-1)?.refusals, [
        { rule: "host-affinity", hostAffinity: "only" },
      ]);
    },
  );

  t.test("a property that the model lacks is the caller's error", async (t) => {
    const code = "INVALID_PARAMETERS";
    await t.rejects(planner.place(input, "nobody"), { code });
    const broken = { ...input, vms: [...input.vms, input.vms[0]!] };
    await t.rejects(planner.starts(broken), { code });
    await t.rejects(planner.starts(broken), { code });
    t.equal((await planner.failover(input, ["h1"])).survives, true);
  });
});

t.test("the thread ends when unused, and starts again", async (t) => {
  const clock = new FakeClock();
  const planner = new Planner({ inventory: slices(), clock });
  t.teardown(() => planner.stop());
  await planner.starts(model(1, 1));
  t.equal(planner.isUp, true);
  clock.pass(29_000);
  t.equal(planner.isUp, true);
  clock.pass(2_000);
  t.equal(planner.isUp, false);
  t.equal((await planner.starts(model(1, 1))).actions.length, 1);
});

t.test("a request that times out ends, the next is answered", async (t) => {
  const clock = new FakeClock();
  const file = fileOf("setInterval(() => undefined, 1e6)");
  const planner = new Planner({
    inventory: slices(),
    clock,
    file,
    timeLimitMs: 5_000,
  });
  t.teardown(() => planner.stop());
  const asked = planner.starts(model(1, 1));
  while (!planner.isUp) await new Promise(setImmediate);
  clock.pass(5_000);
  await t.rejects(asked, { code: "CALL_TIMEOUT" });
  t.equal(planner.isUp, false);
});

t.test("an abort ends running and waiting jobs", async (t) => {
  const file = fileOf("setInterval(() => undefined, 1e6)");
  const clock = new FakeClock();
  const planner = new Planner({ inventory: slices(), clock, file });
  t.teardown(() => planner.stop());
  const [first, second] = [new AbortController(), new AbortController()];
  const call = ({ signal }: AbortController) =>
    planner.starts(model(1, 1), {}, { signal });
  const [one, other] = [call(first), call(second)];
  second.abort();
  await t.rejects(other, { code: "ABORTED" });
  first.abort();
  await t.rejects(one, { code: "ABORTED" });
  await t.rejects(call(first), { code: "ABORTED" });
});

t.test("the queue of requests is limited", async (t) => {
  const file = fileOf("setInterval(() => undefined, 1e6)");
  const clock = new FakeClock();
  const planner = new Planner({ inventory: slices(), clock, file });
  const controller = new AbortController();
  const { signal } = controller;
  const all = Array.from({ length: 20 }, () =>
    planner
      .starts(model(1, 1), {}, { signal })
      .catch((error: unknown) => error),
  );
  controller.abort();
  const codes = (await Promise.all(all)).map(
    (error) => (error as { code: string }).code,
  );
  t.equal(codes.filter((code) => code === "QUEUE_FULL").length, 4);
  t.equal(codes.filter((code) => code === "ABORTED").length, 16);
  await planner.stop();
});

t.test("a crashed thread is reported and restarted", async (t) => {
  const clock = new FakeClock();
  const code = `
    import { parentPort } from "node:worker_threads";
    parentPort.on("message", () => { throw new Error("out of memory") });`;
  const planner = new Planner({
    inventory: slices(),
    clock,
    file: fileOf(code),
  });
  t.teardown(() => planner.stop());
  for (let i = 0; i < 2; i++)
    await t.rejects(planner.starts(model(1, 1)), {
      code: "INTERNAL",
      message: /out of memory/,
    });
});
