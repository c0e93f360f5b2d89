import t from "tap";
import { XapiError, XoError } from "@xo-server/model";
import type { XapiState } from "../src/index.js";
import { clientOf, keepingLogger, startPool } from "./client.js";
import { FakeClock, until } from "./fake-clock.js";
import { ownAddress } from "./loopback.js";
import {
  httpAnswer,
  poolScript,
  SESSION,
  type FakeReply,
} from "./fake-xapi.js";
import { isLogin } from "./logins.js";

t.test("logs in with version and originator, and logs out", async (t) => {
  const pool = await startPool(t);
  const xapi = clientOf(t, pool, { originator: "tests" });
  await xapi.connect();
  const login = pool.calls.find(({ method }) => isLogin(method));
  t.match(login?.params, ["root", String, /^\d+\.\d+$/, "tests"]);
  await xapi.disconnect();
  t.same(xapi.state, { name: "stopped" });
  const logout = pool.calls.find(({ method }) => method === "session.logout");
  t.same(logout?.params, [SESSION]);
  await t.rejects(xapi.call("VM.get_all"), { code: "CLOSED" });
});

t.test("an old pool gets a login with fewer parameters", async (t) => {
  const pool = await startPool(
    t,
    poolScript(({ method, params }) =>
      isLogin(method) && params.length > 2
        ? {
            error: [
              "MESSAGE_PARAMETER_COUNT_MISMATCH",
              method,
              "2",
              String(params.length),
            ],
          }
        : undefined,
    ),
  );
  await clientOf(t, pool).connect();
  t.same(
    pool.calls
      .filter(({ method }) => isLogin(method))
      .map(({ params }) => params.length),
    [4, 3, 2],
  );
});

t.test(
  "SESSION_INVALID: logs in again and retries a getter once",
  async (t) => {
    let sessions = 0;
    const pool = await startPool(
      t,
      poolScript(({ method, params }) => {
        if (isLogin(method)) return { value: `${SESSION}${++sessions}` };
        if (method !== "VM.get_all") return undefined;
        return params[0] === `${SESSION}1`
          ? { error: ["SESSION_INVALID", String(params[0])] }
          : { value: [] };
      }),
    );
    const xapi = clientOf(t, pool);
    await xapi.connect();
    t.same(
      await Promise.all([xapi.call("VM.get_all"), xapi.call("VM.get_all")]),
      [[], []],
    );
    t.equal(sessions, 2, "one login for both");
    t.match(xapi.state, { name: "connected", generation: 2 });
  },
);

t.test(
  "SESSION_INVALID: a call that changes the pool is not retried, but the session is renewed",
  async (t) => {
    let starts = 0;
    const pool = await startPool(
      t,
      poolScript(({ method, params }) => {
        if (method !== "VM.start") return undefined;
        starts++;
        return { error: ["SESSION_INVALID", String(params[0])] };
      }),
    );
    const xapi = clientOf(t, pool);
    await xapi.connect();
    await t.rejects(xapi.call("VM.start", ["OpaqueRef:1", false, false]), {
      code: "SESSION_INVALID",
      params: [],
    });
    await until(
      () => xapi.state.name === "connected" && xapi.counters.logins === 2,
    );
    t.equal(starts, 1);
    await t.rejects(
      xapi.call("VM.start", ["OpaqueRef:1", false, false], {
        idempotent: true,
      }),
      { code: "SESSION_INVALID" },
    );
    t.equal(starts, 3, "repeated once when the caller declares it idempotent");
  },
);

t.test(
  "HOST_STILL_BOOTING and a refused connection: exponential back-off with full jitter, then connects",
  async (t) => {
    const replies: FakeReply[] = Array.from({ length: 4 }, () => ({
      raw: httpAnswer(
        '{"jsonrpc":"2.0","error":["HOST_STILL_BOOTING"],"id":0}',
      ),
      keep: true,
    }));
    const pool = await startPool(
      t,
      poolScript(({ method }) =>
        isLogin(method) ? replies.shift() : undefined,
      ),
    );
    const clock = new FakeClock();
    const xapi = clientOf(t, pool, {
      clock,
      random: () => 0.5,
      backoff: { firstMs: 100, maxMs: 300 },
    });
    const delays: number[] = [];
    xapi.onState((state) => {
      if (state.name !== "backing-off") return;
      delays.push(state.delayMs);
      t.match(state.cause, { code: "HOST_STILL_BOOTING" });
      setImmediate(() => {
        clock.advance(state.delayMs);
      });
    });
    await xapi.connect();
    t.same(delays, [50, 100, 150, 150]);
  },
);

t.test(
  "the reason why a pool is not connected is known during the next attempt, and in the error of a call that was not sent",
  async (t) => {
    const pool = await startPool(t);
    const clock = new FakeClock();
    const xapi = clientOf(t, pool, { clock, random: () => 1 });
    await xapi.connect();
    const refuse = () => ({ error: ["SESSION_INVALID", SESSION] });
    pool.answer(({ method }) =>
      isLogin(method) ? { error: ["HOST_STILL_BOOTING"] } : refuse(),
    );
    await t.rejects(xapi.call("VM.start", ["OpaqueRef:1"]));
    await until(() => xapi.state.name === "backing-off");
    pool.answer(({ method }) =>
      isLogin(method) ? { silent: true } : refuse(),
    );
    const before = pool.calls.length;
    clock.endPauses(60_000);
    await until(() => pool.calls.length > before);
    t.match(xapi.state, {
      name: "connecting",
      cause: { code: "HOST_STILL_BOOTING" },
    });
    const call = xapi.call("VM.start", ["OpaqueRef:1"], { timeoutMs: 1_000 });
    const failure = t.rejects(call, {
      code: "CALL_NOT_SENT",
      message:
        /^VM\.start was not sent: no connection to root@127\.0\.0\.1 within 1000 ms: .*HOST_STILL_BOOTING/,
    });
    clock.advance(1_000);
    await failure;
    t.equal(pool.methods.filter((name) => name === "VM.start").length, 1);
    pool.answer(poolScript());
    clock.advance(60_000);
    await until(() => {
      clock.endPauses(60_000);
      return xapi.state.name === "connected";
    });
    t.notOk("cause" in xapi.state);
  },
);

t.test(
  "a pool that stays unreachable is tried every 10 s at least, and reported once",
  async (t) => {
    let isBooting = true;
    const pool = await startPool(
      t,
      poolScript(({ method }) =>
        isBooting && isLogin(method)
          ? { error: ["HOST_STILL_BOOTING"] }
          : undefined,
      ),
    );
    const clock = new FakeClock();
    const logger = keepingLogger();
    const xapi = clientOf(t, pool, { clock, logger, random: () => 1 });
    const delays: number[] = [];
    xapi.onState((state) => {
      if (state.name !== "backing-off") return;
      delays.push(state.delayMs);
      isBooting = delays.length < 20;
      setImmediate(() => {
        clock.advance(state.delayMs);
      });
    });
    await xapi.connect();
    t.equal(delays.length, 20);
    t.equal(Math.max(...delays), 10_000);
    const warnings = () =>
      logger.lines.filter(({ message }) => /next attempt/.test(message));
    t.same(
      warnings().map(({ level }) => level),
      ["warn", ...Array<string>(19).fill("debug")],
    );
  },
);

t.test(
  "a rejected password rejects connect and is not retried for minutes",
  async (t) => {
    const pool = await startPool(t, () => ({
      error: [
        "SESSION_AUTHENTICATION_FAILED",
        "root",
        "Authentication failure",
      ],
    }));
    const clock = new FakeClock();
    const xapi = clientOf(t, pool, {
      clock,
      random: () => 0.5,
      hosts: [
        `http://127.0.0.1:${pool.port}`,
        `http://${ownAddress(1)}:${pool.port}`,
      ],
    });
    const error = await xapi.connect().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    t.ok(
      error instanceof XapiError &&
        error.code === "SESSION_AUTHENTICATION_FAILED",
    );
    await until(() => xapi.state.name === "backing-off");
    t.match(xapi.state, { delayMs: 300_000 });
    clock.advance(299_999);
    t.equal(pool.methods.filter(isLogin).length, 1);
    pool.answer(poolScript());
    clock.advance(1);
    await xapi.connect();
    t.equal(
      xapi.state.name,
      "connected",
      "the password may have been set back",
    );
  },
);

t.test(
  "one rejected password after hours of sessions is retried after 5, 15 and 45 s, then after minutes",
  async (t) => {
    const pool = await startPool(t);
    const clock = new FakeClock();
    const xapi = clientOf(t, pool, { clock, random: () => 0.5 });
    await xapi.connect();
    pool.answer(({ method }) =>
      isLogin(method)
        ? { error: ["SESSION_AUTHENTICATION_FAILED", "root", "PAM"] }
        : { error: ["SESSION_INVALID", SESSION] },
    );
    const delays: unknown[] = [];
    xapi.onState((state) => {
      if (state.name === "backing-off")
        delays.push([state.delayMs, state.isPassing]);
    });
    void xapi.call("VM.get_all").catch(() => undefined);
    while (delays.length < 4) {
      if (xapi.state.name === "backing-off") clock.endPauses(45_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    t.same(delays, [
      [5_000, true],
      [15_000, true],
      [45_000, true],
      [300_000, false],
    ]);
  },
);

t.test(
  "one closed connection does not change the state: the session is probed and continues",
  async (t) => {
    let calls = 0;
    const pool = await startPool(
      t,
      poolScript(({ method }) =>
        method === "VM.get_all"
          ? calls++ === 0
            ? { cut: true }
            : { value: [] }
          : undefined,
      ),
    );
    const xapi = clientOf(t, pool);
    await xapi.connect();
    const states: XapiState[] = [];
    xapi.onState((state) => states.push(state));
    t.same(await xapi.call("VM.get_all"), []);
    t.same(states, []);
    t.equal(xapi.counters.logins, 1);
  },
);

t.test("connect rejects when its signal is aborted", async (t) => {
  const pool = await startPool(t, () => ({ silent: true }));
  const xapi = clientOf(t, pool);
  const caller = new AbortController();
  const connecting = xapi.connect({ signal: caller.signal });
  caller.abort();
  await t.rejects(connecting);
});

t.test("a call before connect rejects with NOT_CONNECTED", async (t) => {
  const pool = await startPool(t);
  await t.rejects(
    clientOf(t, pool).call("VM.get_all"),
    new XoError("NOT_CONNECTED", { pool: "root@127.0.0.1" }),
  );
});
