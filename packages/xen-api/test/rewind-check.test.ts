import t, { type Test } from "tap";
import { clientOf, startPool } from "./client.js";
import { answer, follow, tokenOf } from "./event-script.js";
import { FakeClock, msUntil } from "./fake-clock.js";
import { poolScript } from "./fake-xapi.js";

/** A stream from token 100 on a pool where nothing changes. */
async function followIdlePool(t: Test) {
  const clock = new FakeClock();
  const state = { injected: tokenOf(99), rejects: false };
  const pool = await startPool(
    t,
    poolScript(({ method }) => {
      if (method === "event.from") return answer(100);
      if (method !== "event.inject") return undefined;
      return state.rejects
        ? { error: ["INTERNAL_ERROR", "injected"] }
        : { value: state.injected };
    }),
  );
  const xapi = clientOf(t, pool, { clock, throttleMs: 1_000 });
  await xapi.connect();
  const stream = follow(xapi.events({ from: tokenOf(100) }));
  const injections = () =>
    pool.methods.filter((method) => method === "event.inject").length;
  return { clock, state, injections, ...stream };
}

t.test(
  "a database that became older within the same session and process is detected though nothing seems to change",
  async (t) => {
    const { clock, state, items, ended } = await followIdlePool(t);
    await msUntil(clock, () => items.length > 20);
    state.injected = tokenOf(90);
    const isLost = () => items.at(-1)?.kind === "lost";
    const detectedMs = await msUntil(clock, isLost);
    await ended;
    t.match(items.at(-1), { kind: "lost", reason: "token-rewound" });
    t.ok(detectedMs <= 63_000, `after ${detectedMs} ms`);
  },
);

t.test("an idle pool is checked every minute, and continues", async (t) => {
  const { clock, items, injections } = await followIdlePool(t);
  const start = clock.now();
  await msUntil(clock, () => items.length > 400);
  const checks = Math.floor((clock.now() - start) / 60_000);
  t.ok(checks > 4);
  t.ok(Math.abs(injections() - checks) <= 1, `${injections()}, ${checks}`);
  t.ok(items.every(({ kind }) => kind === "changes"));
});

t.test("a failed check is repeated", async (t) => {
  const { clock, state, items, ended, injections } = await followIdlePool(t);
  state.rejects = true;
  await msUntil(clock, () => injections() === 2);
  t.ok(items.every(({ kind }) => kind === "changes"));
  state.rejects = false;
  state.injected = tokenOf(90);
  await msUntil(clock, () => items.at(-1)?.kind === "lost");
  await ended;
  t.match(items.at(-1), { kind: "lost", reason: "token-rewound" });
});
