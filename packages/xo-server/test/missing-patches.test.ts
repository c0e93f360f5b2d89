import { XapiError } from "@xo-server/model";
import t from "tap";
import type { PoolObject } from "../src/objects/pool-objects.js";
import { MissingPatches } from "../src/updates/missing-patches.js";
import { HeldLease } from "../src/cluster/held-lease.js";
import { FakeClock } from "./fake-clock.js";

/** An XCP-ng host whose updater plugin is busy with `operation` for the first calls. */
function setUp(operation: string, busyCalls: number) {
  const clock = new FakeClock();
  let calls = 0;
  const call = () => {
    if (calls++ >= busyCalls)
      return Promise.resolve(JSON.stringify([{ name: "qemu" }]));
    const text = `The updater plugin is busy (current operation: ${operation})`;
    return Promise.reject(new XapiError("-1", [text, "", ""], "call"));
  };
  const host = {
    id: "host",
    ref: "OpaqueRef:host",
    object: { productBrand: "XCP-ng" },
    xapi: { call },
  } as unknown as PoolObject;
  const patches = new MissingPatches(clock);
  let outcome: unknown;
  void patches.of(host).then(
    (all) => (outcome = all.map(({ name }) => name)),
    (error: unknown) => (outcome = error),
  );
  return {
    calls: () => calls,
    after: async (ms: number): Promise<unknown> => {
      for (let passed = 0; passed < ms; passed += 1_000) {
        for (let turn = 0; turn < 5; turn++)
          await new Promise((resolve) => setImmediate(resolve));
        clock.pass(1_000);
      }
      await new Promise((resolve) => setImmediate(resolve));
      return outcome;
    },
  };
}

t.test(
  "a list of updates waits for another check of the host that is in progress",
  async (t) => {
    const { after, calls } = setUp("check_update", 3);
    t.equal(await after(1_000), undefined);
    t.same(await after(60_000), ["qemu"]);
    t.equal(calls(), 4);
  },
);

t.test("it waits five minutes at most", async (t) => {
  const { after } = setUp("check_update", Infinity);
  t.equal(await after(290_000), undefined);
  t.match(await after(30_000), { code: "-1" });
});

t.test("it does not wait for an installation", async (t) => {
  const { after, calls } = setUp("update", 1);
  t.match(await after(1_000), { code: "-1" });
  t.equal(calls(), 1);
});

t.test(
  "a query that another server has taken over does not hold up later ones",
  async (t) => {
    const patches = new MissingPatches(new FakeClock());
    const leases: HeldLease[] = [];
    const lost = Array.from({ length: 8 }, (_, i) => {
      const fence = { subject: "server/xo1", epoch: 1 };
      const lease = new HeldLease(fence, { now: () => 0 }, Infinity);
      leases.push(lease);
      const xapi = { call: () => new Promise<never>(() => undefined) };
      const object = { productBrand: "XCP-ng" };
      return patches.of({ id: `host ${i}`, object, xapi, lease } as never);
    });
    for (const lease of leases) lease.lose();
    for (const query of lost) await t.rejects(query, { code: "LEASE_LOST" });
    const call = async () => JSON.stringify([{ name: "qemu" }]);
    const xapi = { call };
    const object = { productBrand: "XCP-ng" };
    const host = { id: "host 0", ref: "r", object, xapi };
    t.match(await patches.of(host as never), [{ name: "qemu" }]);
  },
);
