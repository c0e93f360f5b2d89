import type { Test } from "tap";
import { createBench, type StoreHarness } from "./harness.js";

/** Long enough that no lease expires during a test; 0: it has expired at once. */
const TTL_MS = 600_000;

/** A server of a cluster. */
const ADA = {
  name: "ada",
  instance: "ada-1",
  origin: "rack 1",
  url: "https://ada",
  version: "1.2.3",
};

const ada = { owner: "ada", instance: "ada-1" };
const bob = { owner: "bob", instance: "bob-1" };

export async function testLeases(t: Test, harness: StoreHarness) {
  t.test("only one of several servers takes a lease", async (t) => {
    const bench = await createBench(t, harness);
    const stores = await Promise.all([bench.open(), bench.open()]);
    const taken = await Promise.all([
      stores[0].leases.take("jobs", ada, TTL_MS),
      stores[1].leases.take("jobs", bob, TTL_MS),
    ]);
    t.equal(taken.filter((one) => one !== undefined).length, 1);
    const [lease] = await stores[0].leases.list();
    t.match(lease, { subject: "jobs", epoch: 1 });
    t.ok(lease!.expiresInMs > TTL_MS / 2);
    t.ok(lease!.takenAt > 0);
  });

  t.test(
    "an expired or released lease is taken with a new epoch",
    async (t) => {
      const bench = await createBench(t, harness);
      const { leases } = await bench.open();
      t.same(await leases.take("jobs", ada, 0), { subject: "jobs", epoch: 1 });
      t.same(await leases.take("jobs", bob, TTL_MS), {
        subject: "jobs",
        epoch: 2,
      });
      t.equal(await leases.take("jobs", ada, TTL_MS), undefined);
      await leases.release(ada.instance, ["jobs"]);
      t.equal(await leases.take("jobs", ada, TTL_MS), undefined, "not its own");
      await leases.release(bob.instance, ["jobs", "other"]);
      t.match(await leases.list(), [{ owner: "bob", expiresInMs: 0 }]);
      t.same(await leases.take("jobs", ada, TTL_MS), {
        subject: "jobs",
        epoch: 3,
      });
      await t.rejects(leases.take(" ", ada, TTL_MS), {
        code: "INVALID_PARAMETERS",
      });
    },
  );

  t.test("the next process of a server inherits its leases", async (t) => {
    const bench = await createBench(t, harness);
    const { leases } = await bench.open();
    await leases.take("jobs", ada, TTL_MS);
    const next = { ...ada, instance: "ada-2" };
    t.equal(
      await leases.take("jobs", next, TTL_MS),
      undefined,
      "not from a process that may be frozen",
    );
    t.same(await leases.listFree(next), []);
    await leases.inherit(next, ada.instance);
    t.same(await leases.listFree(next), [{ subject: "jobs", expiresInMs: 0 }]);
    t.equal(await leases.take("jobs", bob, TTL_MS), undefined);
    t.same(await leases.take("jobs", next, TTL_MS), {
      subject: "jobs",
      epoch: 2,
    });
    t.equal((await leases.renew(ada.instance, TTL_MS)).size, 0, "the old one");
    t.same(
      [...(await leases.renew(next.instance, TTL_MS))],
      [["jobs", { epoch: 2 }]],
    );
  });

  t.test("one statement renews all leases that were not taken", async (t) => {
    const bench = await createBench(t, harness);
    const { leases } = await bench.open();
    for (const subject of ["a", "b", "c"]) await leases.take(subject, ada, 0);
    await leases.take("b", bob, TTL_MS);
    const renewed = await leases.renew(ada.instance, TTL_MS);
    t.same([...renewed].toSorted(), [
      ["a", { epoch: 1 }],
      ["c", { epoch: 1 }],
    ]);
    t.equal(await leases.take("a", bob, TTL_MS), undefined);
    t.same(
      (await leases.list("b")).map(({ subject, owner }) => [subject, owner]),
      [["b", "bob"]],
    );
  });

  t.test("a lease is transferred to the server that asks for it", async (t) => {
    const bench = await createBench(t, harness);
    const { leases } = await bench.open();
    const held = await leases.take("jobs", ada, TTL_MS);
    await leases.request("jobs", "bob");
    t.same(
      [...(await leases.renew(ada.instance, TTL_MS))],
      [["jobs", { epoch: 1, requestedBy: "bob" }]],
    );
    t.same(await leases.listFree(bob), []);
    const to = { instance: ada.instance, to: "bob" };
    await leases.transfer(held!, to, TTL_MS);
    await leases.transfer(held!, to, TTL_MS);
    t.equal(await leases.take("jobs", ada, TTL_MS), undefined);
    t.same(await leases.listFree(ada), []);
    t.same(await leases.listFree(bob), [{ subject: "jobs", expiresInMs: 0 }]);
    t.same(await leases.take("jobs", bob, TTL_MS), {
      subject: "jobs",
      epoch: 3,
    });
    t.same(await leases.listFree(bob), []);
    await leases.release(bob.instance, ["jobs"]);
    t.same(
      await leases.listFree(ada),
      [{ subject: "jobs", expiresInMs: 0 }],
      "no server has lost it",
    );
  });

  t.test(
    "leases that expire soon are listed with their time, expired ones with their server",
    async (t) => {
      const bench = await createBench(t, harness);
      const { leases } = await bench.open();
      await leases.take("expired", ada, 0);
      await leases.take("soon", ada, TTL_MS);
      t.same(await leases.listFree(bob), [
        { subject: "expired", expiresInMs: 0, lostBy: "ada" },
      ]);
      const [expired, soon, ...more] = await leases.listFree(bob, TTL_MS);
      t.equal(expired?.subject, "expired");
      t.match(soon, { subject: "soon", lostBy: undefined });
      t.ok(soon!.expiresInMs > 0 && soon!.expiresInMs <= TTL_MS);
      t.same(more, []);
      t.same(await leases.listFree(ada, TTL_MS), [], "its own are not listed");
    },
  );

  t.test(
    "a lease of a short time expires by the database's clock",
    async (t) => {
      const bench = await createBench(t, harness);
      const { leases } = await bench.open();
      await leases.take("jobs", ada, 50);
      let taken;
      // The clock of the database cannot be injected.
      do taken = await leases.take("jobs", bob, TTL_MS);
      while (taken === undefined);
      t.equal(taken.epoch, 2);
    },
  );

  t.test("a write with an old epoch is refused, others are not", async (t) => {
    const bench = await createBench(t, harness);
    const one = await bench.open();
    const two = await bench.open();
    const old = await one.leases.take("server/ada", ada, 0);
    const task = (id: string) => ({
      id,
      owner: "ada",
      name: "n",
      status: "pending" as const,
      startedAt: 1,
      updatedAt: 1,
      body: {},
    });
    await one.tasks.put(task("a"), old);
    const now = await two.leases.take("server/ada", bob, TTL_MS);
    const writes = await Promise.allSettled([
      one.tasks.put(task("b"), old),
      one.tasks.put(task("c")),
      one.taskSteps.put([{ taskId: "a", key: "k", body: 1 }], old),
      one.tasks.put(task("d"), now),
    ]);
    t.same(
      writes.map(({ status }) => status),
      ["rejected", "fulfilled", "rejected", "fulfilled"],
    );
    const { reason } = writes[0] as { readonly reason: { code: string } };
    t.equal(reason.code, "LEASE_LOST");
    t.same([...(await two.tasks.whichOf(["a", "b", "c", "d"]))].toSorted(), [
      "a",
      "c",
      "d",
    ]);
    t.same(await two.taskSteps.list("a"), []);
  });

  t.test("servers notify each other of leases that can be taken", async (t) => {
    const bench = await createBench(t, harness);
    const one = await bench.open();
    const two = await bench.open();
    if (one.engine === "sqlite") return;
    let notices = 0;
    let wake: () => void = () => undefined;
    const noticed = () => new Promise<void>((resolve) => (wake = resolve));
    const listening = noticed();
    const stop = two.onClusterNotice(() => {
      notices++;
      wake();
    });
    await listening;
    const held = await one.leases.take("a", ada, TTL_MS);
    await one.leases.take("b", ada, TTL_MS);
    await one.leases.take("c", ada, TTL_MS);
    t.equal(notices, 1, "those taken are not notified");
    const changes = [
      () => one.leases.request("a", "bob"),
      () =>
        one.leases.transfer(held!, { instance: "ada-1", to: "bob" }, TTL_MS),
      () => one.leases.release(ada.instance, ["b", "c"]),
    ];
    for (const change of changes) {
      const next = noticed();
      await change();
      await next;
    }
    t.equal(notices, 1 + changes.length, "one for each statement");
    const free = await two.leases.listFree(bob);
    t.same(free.map(({ subject }) => subject).toSorted(), ["a", "b", "c"]);
    stop();
  });
}

export async function testServersOfCluster(t: Test, harness: StoreHarness) {
  t.test(
    "a server that leaves takes part again at its next start",
    async (t) => {
      const bench = await createBench(t, harness);
      const { clusterServers } = await bench.open();
      await clusterServers.join(ADA, TTL_MS);
      t.equal(
        await clusterServers.leave("ada", "ada-0"),
        false,
        "it has ended",
      );
      t.equal((await clusterServers.list())[0]!.leavingAt, undefined);
      t.equal(await clusterServers.leave("ada"), true);
      const { leavingAt } = (await clusterServers.list())[0]!;
      t.ok(leavingAt! > 0);
      t.equal(await clusterServers.leave("ada"), true);
      t.match(
        await clusterServers.list(),
        [{ leavingAt }],
        "since the first time",
      );
      await clusterServers.join({ ...ADA, instance: "ada-2" }, TTL_MS);
      t.equal((await clusterServers.list())[0]!.leavingAt, undefined);
      t.equal(await clusterServers.leave("bob"), false);
    },
  );

  t.test("servers join, send heartbeats and leave", async (t) => {
    const bench = await createBench(t, harness);
    const { clusterServers } = await bench.open();
    t.equal(await clusterServers.join(ADA, TTL_MS), undefined);
    const [listed] = await clusterServers.list();
    t.match(listed, ADA);
    t.ok(listed!.silentMs < TTL_MS);
    t.equal(await clusterServers.heartbeat("ada-1"), true);
    t.match(await clusterServers.list(), [{ address: undefined }]);
    const reached = { address: "10.0.0.1:9000", fingerprint: "AB:CD" };
    await clusterServers.heartbeat("ada-1", reached);
    await clusterServers.heartbeat("ada-1");
    t.match(await clusterServers.list(), [reached], "where it is reached");
    const twin = { ...ADA, instance: "twin", origin: "rack 2" };
    t.match(await clusterServers.join(twin, TTL_MS), { origin: "rack 1" });
    const next = { ...ADA, instance: "ada-2" };
    t.equal(await clusterServers.join(next, TTL_MS), undefined, "a restart");
    t.equal(await clusterServers.heartbeat("ada-1"), false);
    t.match(
      await clusterServers.list(),
      [{ address: undefined, fingerprint: undefined }],
      "the next process may have another port",
    );
    await clusterServers.delete("ada", "ada-1");
    t.equal((await clusterServers.list()).length, 1);
    t.equal(await clusterServers.join(twin, 0), undefined, "it was silent");
    await clusterServers.delete("ada");
    t.same(await clusterServers.list(), []);
    await t.rejects(clusterServers.join({ ...ADA, name: "" }, 1), {
      code: "INVALID_PARAMETERS",
    });
  });
}
