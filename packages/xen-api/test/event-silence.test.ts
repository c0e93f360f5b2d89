import t, { type Test } from "tap";
import type { XapiEvents, XapiOptions } from "../src/index.js";
import { clientOf, startPool } from "./client.js";
import { FakeClock, msUntil, until } from "./fake-clock.js";
import { httpAnswer, poolScript, type FakeReply } from "./fake-xapi.js";

const tokenOf = (n: number) =>
  `${String(n).padStart(20, "0")},${"0".repeat(20)}`;

const answer = (n: number): FakeReply => ({
  value: { events: [], valid_ref_counts: { vm: 1 }, token: tokenOf(n) },
});

/** A stream on a pool that answers event.from with `reply`, which may change; its items so far. */
async function watchedPool(t: Test, options: Partial<XapiOptions> = {}) {
  const clock = new FakeClock();
  const state = {
    reply: answer(100) as FakeReply | (() => Promise<FakeReply>),
    token: 0,
  };
  const pool = await startPool(
    t,
    poolScript(({ method }) =>
      method === "event.from"
        ? typeof state.reply === "function"
          ? state.reply()
          : state.reply
        : method === "event.inject"
          ? { value: tokenOf(state.token) }
          : undefined,
    ),
  );
  const xapi = clientOf(t, pool, { clock, random: () => 0.5, ...options });
  await xapi.connect();
  const items: XapiEvents[] = [];
  const polls = () => pool.calls.filter((call) => call.method === "event.from");
  void (async () => {
    for await (const item of xapi.events({ from: tokenOf(100) }))
      items.push(item);
  })().catch(() => undefined);
  await until(() => items.length === 1);
  return { clock, state, pool, xapi, items, polls };
}

const cases: Record<string, FakeReply> = {
  "is never answered": { silent: true },
  "closes the connection": { cut: true },
  "stalls within the answer": {
    raw: "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{",
    keep: true,
  },
};

for (const [what, reply] of Object.entries(cases))
  t.test(
    `an event.from that ${what} while other calls work is reported within 15 s, and its end within 10 s`,
    async (t) => {
      const { clock, state, xapi, items } = await watchedPool(t);
      state.reply = reply;
      const silentAfter = await msUntil(clock, () => items.length === 2);
      t.ok(silentAfter < 15_000, `reported after ${silentAfter} ms`);
      t.match(items[1], {
        kind: "silent",
        error: {
          code: "EVENTS_SILENT",
          message: /^no events from .* for 1\d s/,
        },
      });
      t.equal(xapi.state.name, "connected");
      await msUntil(clock, () => clock.now() >= 1_060_000);
      t.equal(items.length, 2, "reported once");
      state.reply = answer(101);
      const backAfter = await msUntil(clock, () => items.length > 2);
      t.ok(backAfter < 10_000, `back after ${backAfter} ms`);
      t.match(items[2], { kind: "changes", token: tokenOf(101) });
      t.equal(xapi.counters.logins, 1);
    },
  );

t.test("an idle pool that answers at the timeout is not silent", async (t) => {
  const { clock, state, items, polls } = await watchedPool(t);
  state.reply = { silent: true };
  await msUntil(clock, () => polls().length === 2);
  const { socket } = polls().at(-1)!;
  await msUntil(clock, () => clock.now() >= 1_010_000);
  state.reply = answer(100);
  socket.write(
    httpAnswer(
      JSON.stringify({
        jsonrpc: "2.0",
        result: { events: [], valid_ref_counts: {}, token: tokenOf(100) },
        id: 0,
      }),
    ),
  );
  await until(() => items.length === 2);
  t.match(items[1], { kind: "changes" });
});

t.test(
  "a pool that answers four seconds late is polled more briefly, not reported again and again",
  async (t) => {
    const { clock, state, items, polls } = await watchedPool(t);
    let n = 100;
    const late = () =>
      new Promise<FakeReply>((resolve) => {
        const waitMs = Number(polls().at(-1)!.params[3]) * 1000;
        clock.setTimeout(() => {
          resolve(answer(++n));
        }, waitMs + 4_000);
      });
    state.reply = late;
    await msUntil(clock, () => clock.now() >= 1_120_000);
    const kinds = items.map(({ kind }) => kind);
    t.equal(kinds.filter((kind) => kind === "silent").length, 1);
    t.ok(kinds.length > 12, `${kinds.length} items in two minutes`);
  },
);

t.test(
  "after injectToken the pause between two polls ends: the caller's own change is read immediately",
  async (t) => {
    const { clock, state, xapi, items, polls } = await watchedPool(t, {
      throttleMs: 10_000,
    });
    await until(() => clock.pending.includes(10_000));
    state.token = 105;
    state.reply = answer(105);
    t.equal(await xapi.injectToken(), tokenOf(105));
    clock.advance(20);
    await until(() => items.length === 2);
    t.equal(polls().length, 2);
    await until(() => clock.pending.includes(10_000));
    t.ok(true, "afterwards the pause is the usual one");
  },
);

t.test(
  "a poll answered before the requested token is followed by the next one immediately",
  async (t) => {
    const { clock, state, xapi, items } = await watchedPool(t, {
      throttleMs: 10_000,
    });
    await until(() => clock.pending.includes(10_000));
    state.token = 105;
    await xapi.injectToken();
    state.reply = answer(104);
    clock.advance(20);
    await until(() => items.length === 2 && clock.pending.includes(20));
    state.reply = answer(105);
    clock.advance(20);
    await until(() => items.length === 3 && clock.pending.includes(10_000));
    t.match(items.at(-1), { token: tokenOf(105) });
  },
);

t.test(
  "a token that the pool never reaches shortens the pauses for 5 s only",
  async (t) => {
    const { clock, state, xapi, polls } = await watchedPool(t, {
      throttleMs: 10_000,
    });
    state.token = 105;
    await xapi.injectToken();
    await msUntil(clock, () => clock.now() >= 1_006_000);
    const before = polls().length;
    t.ok(before > 20, `${before} polls`);
    await msUntil(clock, () => clock.now() >= 1_010_000);
    t.ok(polls().length <= before + 1);
  },
);

t.test(
  "an event.from without an answer is repeated sooner while there is another way to the pool",
  async (t) => {
    for (const isAvailable of [true, false]) {
      const never = () => new Promise<never>(() => undefined);
      const route = { isAvailable, connect: never, listen: never };
      const { clock, state, polls } = await watchedPool(t, { route });
      state.reply = { silent: true };
      const before = polls().length;
      await msUntil(clock, () => polls().length === before + 1);
      const ms = await msUntil(clock, () => polls().length === before + 2);
      const [limitMs, waitS] = isAvailable ? [7_000, 4] : [13_000, 10];
      t.ok(ms >= limitMs && ms < limitMs + 2_000, `${ms} ms`);
      t.equal(polls()[before]?.params[3], waitS);
    }
  },
);
