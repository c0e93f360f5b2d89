import t from "tap";
import { SpacedRuns } from "../src/live/spaced-runs.js";
import { FakeClock } from "./fake-clock.js";

function start() {
  const clock = new FakeClock();
  const times: number[] = [];
  const begun = clock.now();
  const runs = new SpacedRuns({
    clock,
    everyMs: 1000,
    run: () => times.push(clock.now() - begun),
  });
  return { clock, times, runs };
}

t.test("the first request runs at once", (t) => {
  const { times, runs } = start();
  runs.request();
  t.same(times, [0]);
  t.end();
});

t.test("many requests run once in the time, and the last is not lost", (t) => {
  const { clock, times, runs } = start();
  for (let i = 0; i < 30; i++) {
    runs.request();
    clock.pass(100);
  }
  clock.pass(10_000);
  t.same(times, [0, 1000, 2000, 3000]);
  t.end();
});

t.test("nothing runs after the end", (t) => {
  const { clock, times, runs } = start();
  runs.request();
  runs.request();
  runs.stop();
  clock.pass(10_000);
  t.same(times, [0]);
  t.end();
});
