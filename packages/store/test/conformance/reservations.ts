import type { Test } from "tap";
import { createBench, type StoreHarness } from "./harness.js";

const FOR_MS = 3_600_000;
/** Long enough that no lease expires during a test. */
const TTL_MS = 600_000;
const LIMIT = 2;

export async function testReservations(t: Test, harness: StoreHarness) {
  /** Two servers, each with the lease on its tasks. */
  const setUp = async (t: Test) => {
    const bench = await createBench(t, harness);
    const servers = [];
    for (const owner of ["ada", "ben"]) {
      const store = await bench.open();
      const self = { owner, instance: `${owner}-1` };
      const taken = await store.leases.take(`server/${owner}`, self, TTL_MS);
      servers.push({ store, self, fence: taken! });
    }
    const [one, other] = servers as [
      (typeof servers)[number],
      (typeof servers)[number],
    ];
    return { bench, one, other };
  };
  type Server = Awaited<ReturnType<typeof setUp>>["one"];
  /** Reserves one of two. @throws Error where none is left */
  const make = ({ store, fence }: Server, id: string, subject = "set") =>
    store.reservations.reserve(
      { id, subject, fence, forMs: FOR_MS },
      (others) => {
        if (others.length >= LIMIT) throw new Error("none left");
        return { number: others.length };
      },
    );

  t.test("two servers cannot reserve the same", async (t) => {
    const { one, other } = await setUp(t);
    const made = await Promise.allSettled(
      [0, 1, 2, 3].map((i) => make(i % 2 === 0 ? one : other, `r${i}`)),
    );
    const refused = made.filter(({ status }) => status === "rejected");
    t.equal(refused.length, 2);
    const bodies = made.flatMap((end) =>
      end.status === "fulfilled" ? [end.value.number] : [],
    );
    t.same(bodies.toSorted(), [0, 1]);
    t.equal((await other.store.reservations.list("set")).length, LIMIT);
    await make(one, "r9", "another set");
    t.pass("others are not concerned");
  });

  t.test("what is returned can be reserved again", async (t) => {
    const { one, other } = await setUp(t);
    await make(one, "a");
    await make(one, "b");
    await t.rejects(make(other, "c"), { message: "none left" });
    await one.store.reservations.delete("a");
    t.same(await make(other, "c"), { number: 1 });
  });

  t.test("a settled reservation is kept for a minute", async (t) => {
    const { bench, one, other } = await setUp(t);
    await make(one, "a");
    await one.store.reservations.settle("a", { vm: "v" });
    t.match(await other.store.reservations.list("set"), [
      {
        id: "a",
        holder: "server/ada",
        settledAt: Number,
        body: { vm: "v" },
      },
    ]);
    bench.clock.advance(60_001);
    t.same(await make(other, "b"), { number: 0 });
  });

  t.test("those of a server that was taken over do not count", async (t) => {
    const { one, other } = await setUp(t);
    await make(one, "a");
    await make(one, "b");
    await one.store.reservations.settle("b", {});
    const { store, self } = other;
    await one.store.leases.release("ada-1", ["server/ada"]);
    t.ok(await store.leases.take("server/ada", self, TTL_MS));
    const ids = (await store.reservations.list("set")).map(({ id }) => id);
    t.same(ids, ["b"], "what it has settled exists");
    await t.rejects(make(one, "c"), { code: "LEASE_LOST" });
  });
}
