import { getEventListeners } from "node:events";
import t from "tap";
import {
  backgroundWallClock,
  monotonicClock,
  pause,
  wallClock,
  type Timers,
} from "../src/index.js";

t.test("the wall clock returns milliseconds since the epoch", async (t) => {
  const before = Date.now();
  const now = wallClock.now();
  t.ok(now >= before && now <= Date.now());
});

t.test("the monotonic clock never decreases", async (t) => {
  let last = monotonicClock.now();
  let decreased = 0;
  for (let i = 0; i < 1000; i++) {
    const now = monotonicClock.now();
    if (now < last) decreased++;
    last = now;
  }
  t.equal(decreased, 0);
});

t.test("background timers do not keep the process alive", async (t) => {
  const handle = backgroundWallClock.setTimeout(() => undefined, 60_000);
  t.equal((handle as NodeJS.Timeout).hasRef(), false);
  backgroundWallClock.clearTimeout(handle);
});

t.test("a pause ends when its timer fires", async (t) => {
  const timers = fakeTimers();
  let ended = false;
  const paused = pause(timers, 500).then(() => {
    ended = true;
  });
  await Promise.resolve();
  t.equal(ended, false);
  t.same(timers.delays(), [500]);
  timers.fire();
  await paused;
  t.equal(ended, true);
});

t.test("a pause ends at once when its signal is aborted", async (t) => {
  const timers = fakeTimers();
  const abort = new AbortController();
  const paused = pause(timers, 500, abort.signal);
  abort.abort();
  await paused;
  t.same(timers.delays(), [], "its timer is cleared");
  await pause(timers, 500, abort.signal);
  await pause(timers, 0);
  t.same(timers.delays(), [], "no timer is set");
});

t.test("a pause ends with the first of several signals", async (t) => {
  const timers = fakeTimers();
  const [first, second] = [new AbortController(), new AbortController()];
  const paused = pause(timers, 500, first.signal, undefined, second.signal);
  t.equal(getEventListeners(first.signal, "abort").length, 1);
  second.abort();
  await paused;
  t.equal(getEventListeners(first.signal, "abort").length, 0, "no listeners");
  await pause(timers, 500, first.signal, second.signal);
  t.same(timers.delays(), [], "no timer is left");
});

function fakeTimers(): Timers & { delays(): number[]; fire(): void } {
  const pending = new Map<object, { callback: () => void; ms: number }>();
  return {
    setTimeout(callback, ms) {
      const handle = {};
      pending.set(handle, { callback, ms });
      return handle;
    },
    clearTimeout(handle) {
      pending.delete(handle as object);
    },
    delays: () => Array.from(pending.values(), ({ ms }) => ms),
    fire() {
      for (const { callback } of [...pending.values()]) callback();
    },
  };
}
