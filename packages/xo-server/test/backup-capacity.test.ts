import t from "tap";
import { Capacity } from "../src/backups/jobs/capacity.js";
import { isWithin } from "../src/backups/jobs/window.js";

const signal = new AbortController().signal;
const turn = () => new Promise(setImmediate);

/** Work that lasts until it is ended. */
function pending(capacity: Capacity, demand: Record<string, number>) {
  let end = (): void => undefined;
  let hasBegun = false;
  const done = capacity.run(new Map(Object.entries(demand)), signal, () => {
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
  const waiting = capacity.run(new Map([["sr", 1]]), abort.signal, () =>
    Promise.resolve(t.fail("it must not begin")),
  );
  await turn();
  abort.abort();
  await t.rejects(waiting, { code: "ABORTED" });
  await first.end();
  t.equal(capacity.used("sr"), 0);
});

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
