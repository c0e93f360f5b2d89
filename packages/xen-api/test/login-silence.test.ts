import t, { type Test } from "tap";
import { clientOf, startPool } from "./client.js";
import { FakeClock, msUntil } from "./fake-clock.js";
import { poolScript, SESSION, type FakeReply } from "./fake-xapi.js";

const INVALID: FakeReply = { error: ["SESSION_INVALID", "OpaqueRef:NULL"] };

/** A pool whose logins and probes are answered by these functions, and a client that connects to it. */
async function connecting(
  t: Test,
  replies: {
    readonly login: (clock: FakeClock) => FakeReply | Promise<FakeReply>;
    readonly probe: (clock: FakeClock) => FakeReply;
  },
) {
  const clock = new FakeClock();
  const pool = await startPool(
    t,
    poolScript(({ method }) => {
      if (method === "session.login_with_password") return replies.login(clock);
      if (method === "session.get_uuid") return replies.probe(clock);
      return undefined;
    }),
  );
  // A login has three times as long.
  const connectTimeoutMs = 30_000;
  const xapi = clientOf(t, pool, { clock, connectTimeoutMs });
  // It rejects when the client is closed at the end of a test.
  void xapi.connect().catch(() => undefined);
  const logins = () =>
    pool.methods.filter((name) => name === "session.login_with_password");
  const isConnected = () => xapi.state.name === "connected";
  return { clock, xapi, logins, isConnected };
}

t.test(
  "a login that a silent pool has received is sent again when the pool answers",
  async (t) => {
    const from = new FakeClock().now();
    const untilAnswers = (reply: FakeReply) => (clock: FakeClock) =>
      clock.now() < from + 25_000 ? ({ silent: true } as const) : reply;
    const { clock, logins, isConnected } = await connecting(t, {
      login: untilAnswers({ value: SESSION }),
      probe: untilAnswers(INVALID),
    });
    const afterMs = await msUntil(clock, isConnected);
    t.ok(afterMs >= 25_000, `connected after ${afterMs} ms`);
    t.ok(afterMs < 35_000, `connected after ${afterMs} ms`);
    t.equal(logins().length, 2);
  },
);

t.test("a slow login is sent once to a pool that answers probes", async (t) => {
  const from = new FakeClock().now();
  let answerLogin: (reply: FakeReply) => void = () => undefined;
  const { clock, logins, isConnected } = await connecting(t, {
    login: () =>
      new Promise((resolve) => {
        answerLogin = resolve;
      }),
    probe: () => INVALID,
  });
  await msUntil(clock, () => clock.now() >= from + 25_000);
  answerLogin({ value: SESSION });
  await msUntil(clock, isConnected);
  t.equal(logins().length, 1);
});

t.test(
  "a pool that answers only some probes gets at most four logins at a time limit",
  async (t) => {
    const from = new FakeClock().now();
    let probes = 0;
    const { clock, logins } = await connecting(t, {
      login: () => ({ silent: true }),
      probe: () => (probes++ % 2 === 0 ? { silent: true } : INVALID),
    });
    await msUntil(clock, () => clock.now() >= from + 85_000);
    t.equal(logins().length, 4);
  },
);
