import t from "tap";
import { Capacity } from "../src/backups/jobs/capacity.js";
import { HeldLease } from "../src/cluster/held-lease.js";
import { isWithin } from "../src/backups/jobs/window.js";

const { signal } = new AbortController();
const fence = { subject: "server/here", owner: "here", epoch: 1 };
const turn = () => new Promise(setImmediate);

/** Work that lasts until it is ended. */
function pending(
  capacity: Capacity,
  demand: Record<string, number>,
  lease?: HeldLease,
) {
  let end = (): void => undefined;
  let hasBegun = false;
  const slots = new Map(Object.entries(demand));
  const done = capacity.run(slots, { signal, lease }, () => {
    hasBegun = true;
    return new Promise<void>((resolve) => (end = resolve));
  });
  return {
    hasBegun: () => hasBegun,
    end: async () => {
      end();
      await done;
    },
  };
}

t.test("work waits until all that it needs is free", async (t) => {
  const capacity = new Capacity();
  const a = pending(capacity, { host: 2, sr: 1 });
  const b = pending(capacity, { host: 2, sr: 1 });
  const c = pending(capacity, { host: 2 });
  const d = pending(capacity, { host: 2 });
  await turn();
  t.ok(a.hasBegun());
  t.notOk(b.hasBegun(), "the SR is in use");
  t.ok(c.hasBegun(), "it does not wait behind what cannot begin");
  t.notOk(d.hasBegun(), "the host is full");
  await a.end();
  await turn();
  t.ok(b.hasBegun());
  t.notOk(d.hasBegun());
  await b.end();
  await turn();
  t.ok(d.hasBegun());
  await c.end();
  await d.end();
  t.equal(capacity.used("host"), 0);
});

t.test("work that waits can be cancelled", async (t) => {
  const capacity = new Capacity();
  const first = pending(capacity, { sr: 1 });
  const abort = new AbortController();
  const waiting = capacity.run(new Map([["sr", 1]]), abort, () =>
    Promise.resolve(t.fail("it must not begin")),
  );
  await turn();
  abort.abort();
  await t.rejects(waiting, { code: "ABORTED" });
  await first.end();
  t.equal(capacity.used("sr"), 0);
});

t.test(
  "work that another server has taken over occupies nothing, although it never ends",
  async (t) => {
    const capacity = new Capacity();
    const lease = new HeldLease(fence, { now: () => 0 }, Infinity);
    const lost = pending(capacity, { sr: 1 }, lease);
    const next = pending(capacity, { sr: 1 });
    await turn();
    t.ok(lost.hasBegun());
    t.notOk(next.hasBegun());
    lease.lose();
    await turn();
    t.ok(next.hasBegun());
    await lost.end();
    t.equal(capacity.used("sr"), 1, "it is released once");
    await next.end();
    t.equal(capacity.used("sr"), 0);
  },
);

t.test("a window may include midnight", async (t) => {
  const night = { from: "22:00", to: "06:00" };
  const at = (time: string) => Date.parse(`2026-11-21T${time}:00Z`);
  for (const time of ["22:00", "23:59", "00:00", "05:59"])
    t.ok(isWithin(night, at(time), "UTC"), time);
  for (const time of ["06:00", "12:00", "21:59"])
    t.notOk(isWithin(night, at(time), "UTC"), time);
  t.ok(isWithin({ from: "08:00", to: "17:00" }, at("08:30"), "UTC"));
  t.notOk(isWithin(night, at("22:30"), "Asia/Tokyo"), "7:30 there");
});
