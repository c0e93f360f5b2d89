import t, { type Test } from "tap";
import { XapiError, XoError } from "@xo-server/model";
import type { XapiEvents, XapiState } from "../src/index.js";
import { clientOf, keepingLogger, startPool } from "./client.js";
import { FakeClock, until } from "./fake-clock.js";
import { ownAddress } from "./loopback.js";
import {
  httpAnswer,
  POOL,
  poolScript,
  SESSION,
  TOKEN,
  type FakeReply,
  type FakeScript,
} from "./fake-xapi.js";

const isLogin = (method: string) => method === "session.login_with_password";

/** A client that is connected to the coordinator and knows the hosts of its pool. */
async function connectKnowingHosts(t: Test, script: FakeScript) {
  const old = await startPool(t, script);
  const kept: unknown[] = [];
  const clock = new FakeClock();
  const xapi = clientOf(t, old, {
    clock,
    onCandidates: (list) => kept.push(list),
  });
  await xapi.connect();
  await until(() => kept.length > 0);
  return { old, clock, xapi };
}

/** Lets the time pass, and what happens then reach the other side. */
async function pass(clock: FakeClock, ms: number): Promise<void> {
  clock.advance(ms);
  for (let i = 0; i < 50; i++)
    await new Promise((resolve) => setImmediate(resolve));
}

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
  "HOST_IS_SLAVE: connects to the coordinator on the same port",
  async (t) => {
    const coordinator = await startPool(t, poolScript(), ownAddress(1));
    const member = await startPool(
      t,
      () => ({ error: ["HOST_IS_SLAVE", ownAddress(1)] }),
      ownAddress(0),
      coordinator.port,
    );
    const xapi = clientOf(t, member);
    const states: string[] = [];
    xapi.onState((state) =>
      states.push(
        "address" in state ? `${state.name} ${state.address}` : state.name,
      ),
    );
    await xapi.connect();
    const { port } = coordinator;
    t.same(states, [
      `connecting ${ownAddress(0)}:${port}`,
      `connecting ${ownAddress(1)}:${port}`,
      `connected ${ownAddress(1)}:${port}`,
    ]);
  },
);

t.test(
  "HOST_IS_SLAVE in a call: logs in at the coordinator and retries the call there",
  async (t) => {
    const next = await startPool(
      t,
      poolScript(({ method }) =>
        method === "VM.start" ? { value: "" } : undefined,
      ),
      ownAddress(1),
    );
    const first = await startPool(
      t,
      poolScript(({ method }) =>
        method === "VM.start"
          ? { error: ["HOST_IS_SLAVE", ownAddress(1)] }
          : undefined,
      ),
      ownAddress(0),
      next.port,
    );
    const xapi = clientOf(t, first);
    await xapi.connect();
    t.equal(await xapi.call("VM.start", ["OpaqueRef:1", false, false]), "");
    t.match(xapi.state, {
      name: "connected",
      address: `${ownAddress(1)}:${next.port}`,
      generation: 2,
    });
  },
);

t.test(
  "members that name each other as coordinator do not cause a loop",
  async (t) => {
    const a = await startPool(t, () => ({
      error: ["HOST_IS_SLAVE", ownAddress(1)],
    }));
    await startPool(
      t,
      () => ({ error: ["HOST_IS_SLAVE", "127.0.0.1"] }),
      ownAddress(1),
      a.port,
    );
    const clock = new FakeClock();
    const xapi = clientOf(t, a, { clock });
    void xapi.connect().catch(() => undefined);
    await until(() => xapi.state.name === "backing-off");
    t.equal(a.methods.filter(isLogin).length, 1);
  },
);

t.test(
  "a coordinator name that is not an address is not followed",
  async (t) => {
    const pool = await startPool(t, () => ({
      error: ["HOST_IS_SLAVE", "evil.example/path?x"],
    }));
    const xapi = clientOf(t, pool, { clock: new FakeClock() });
    void xapi.connect().catch(() => undefined);
    await until(() => xapi.state.name === "backing-off");
    t.match(xapi.state, { cause: { code: "HOST_IS_SLAVE" } });
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
  "when the coordinator is unreachable the members are tried and the new coordinator is used",
  async (t) => {
    const host = (address: string) => ({
      uuid: address,
      address,
      name_label: address,
    });
    const hosts = {
      "OpaqueRef:h1": host("127.0.0.1"),
      "OpaqueRef:h2": host(ownAddress(1)),
      "OpaqueRef:h3": host(ownAddress(2)),
    };
    const withHosts = poolScript(({ method }) =>
      method === "host.get_all_records" ? { value: hosts } : undefined,
    );
    const old = await startPool(t, withHosts);
    const kept: string[][] = [];
    const clock = new FakeClock();
    const xapi = clientOf(t, old, {
      clock,
      onCandidates: (list) => kept.push([...list]),
    });
    await xapi.connect();
    await until(() => kept.length > 0);
    const { port } = old;
    t.same(kept, [
      ["127.0.0.1", ownAddress(1), ownAddress(2)].map(
        (address) => `http://${address}:${port}`,
      ),
    ]);
    const states: XapiState[] = [];
    xapi.onState((state) => states.push(state));
    // Member 2 is rebooting as well; member 3 has become the coordinator.
    await startPool(t, withHosts, ownAddress(2), port);
    await old.close();
    await t.rejects(xapi.call("VM.start", ["OpaqueRef:1", false, false]), {
      code: "RESULT_UNKNOWN",
    });
    await until(() => states.at(-1)?.name === "connected");
    t.match(states.at(-1), {
      address: `${ownAddress(2)}:${port}`,
      generation: 2,
    });
  },
);

t.test(
  "a coordinator that accepts connections without answering is replaced after 18 s; members that name it do not delay the new one",
  async (t) => {
    const host = (address: string) => ({
      uuid: address,
      address,
      name_label: address,
    });
    const addresses = ["127.0.0.1", ...[1, 2, 3].map(ownAddress)];
    const hosts = Object.fromEntries(
      addresses.map((address) => [`OpaqueRef:${address}`, host(address)]),
    );
    const withHosts = poolScript(({ method }) =>
      method === "host.get_all_records"
        ? { value: hosts }
        : method === "event.from"
          ? { silent: true }
          : undefined,
    );
    const { old, clock, xapi } = await connectKnowingHosts(t, withHosts);
    const { port } = old;
    const slave: FakeScript = () => ({ error: ["HOST_IS_SLAVE", "127.0.0.1"] });
    await startPool(t, slave, ownAddress(1), port);
    await startPool(t, slave, ownAddress(2), port);
    await startPool(t, withHosts, ownAddress(3), port);
    old.answer(() => ({ silent: true }));
    const stream = xapi.events({ from: TOKEN });
    const items: XapiEvents[] = [];
    void (async () => {
      for await (const item of stream) items.push(item);
    })();
    const start = clock.now();
    const isBack = () =>
      xapi.state.name === "connected" && xapi.state.generation === 2;
    while (!isBack()) {
      await pass(clock, 100);
    }
    const tookMs = clock.now() - start;
    t.ok(tookMs < 25_000, `followed after ${tookMs} ms`);
    t.match(xapi.state, { address: `${ownAddress(3)}:${port}` });
    t.match(items[0], { kind: "silent" });
  },
);

t.test(
  "a coordinator that stops answering while a class is listed is replaced within 25 s, and the list continues with the new one",
  async (t) => {
    const hosts = Object.fromEntries(
      ["127.0.0.1", ownAddress(1)].map((address) => [
        `OpaqueRef:${address}`,
        { uuid: address, address, name_label: address },
      ]),
    );
    const script = poolScript(({ method }) => {
      if (method === "host.get_all_records") return { value: hosts };
      return method === "VM.get_all_records" ? { value: {} } : undefined;
    });
    const { old, clock, xapi } = await connectKnowingHosts(t, script);
    await startPool(t, script, ownAddress(1), old.port);
    old.answer(() => ({ silent: true }));
    const start = clock.now();
    let isListed = false;
    const list = xapi.listRecords("VM", { onBatch: () => undefined });
    void list.then(() => (isListed = true));
    while (!isListed) {
      await pass(clock, 100);
    }
    t.match(xapi.state, { address: `${ownAddress(1)}:${old.port}` });
    const tookMs = clock.now() - start;
    t.ok(tookMs < 25_000, `listed after ${tookMs} ms`);
  },
);

t.test(
  "a pool cannot send the password elsewhere: no port, and once its hosts are known no other address",
  async (t) => {
    const trap = await startPool(t, poolScript(), ownAddress(2));
    const hosts = {
      "OpaqueRef:h1": { uuid: "h1", address: ownAddress(0), name_label: "" },
    };
    const pool = await startPool(
      t,
      poolScript(({ method }) =>
        method === "host.get_all_records" ? { value: hosts } : undefined,
      ),
      ownAddress(0),
      trap.port,
    );
    const other = await startPool(t, poolScript(), ownAddress(0));
    const elsewhere = `${ownAddress(0)}:${other.port}`;
    const clock = new FakeClock();
    const kept: unknown[] = [];
    const xapi = clientOf(t, pool, {
      clock,
      onCandidates: (list) => kept.push(list),
    });
    await xapi.connect();
    await until(() => kept.length > 0);
    pool.answer(({ method }) => ({
      error: [
        "HOST_IS_SLAVE",
        method === "VM.get_all" ? ownAddress(2) : elsewhere,
      ],
    }));
    void xapi.call("VM.get_all").catch(() => undefined);
    await until(() => xapi.state.name === "backing-off");
    t.same(trap.calls, []);
    t.same(other.calls, []);
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
  "a discovered address that now belongs to another pool is not used",
  async (t) => {
    const hosts = {
      "OpaqueRef:h2": { uuid: "h2", address: ownAddress(1), name_label: "" },
    };
    const mine = await startPool(
      t,
      poolScript(({ method }) =>
        method === "host.get_all_records" ? { value: hosts } : undefined,
      ),
    );
    const other = await startPool(
      t,
      poolScript(({ method }) =>
        method === "pool.get_all_records"
          ? { value: { [POOL]: { uuid: "another" } } }
          : undefined,
      ),
      ownAddress(1),
      mine.port,
    );
    let learned = 0;
    const xapi = clientOf(t, mine, {
      clock: new FakeClock(),
      onCandidates: () => learned++,
    });
    await xapi.connect();
    await until(() => learned > 0);
    await mine.close();
    void xapi.call("VM.get_all").catch(() => undefined);
    await until(() => xapi.state.name === "backing-off");
    t.match(xapi.state, { cause: { code: "NO_CANDIDATE" } });
    t.ok(
      other.methods.includes("session.logout"),
      "its session is not left behind",
    );
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

t.test(
  "auto: a pool without JSON-RPC gets the next best transport, which is logged and used by calls",
  async (t) => {
    const answers: [string, (body: string) => FakeReply][] = [
      [
        "answers in XML as its XML-RPC handler does",
        () => ({ raw: httpAnswer("<methodResponse/>", "text/xml") }),
      ],
      [
        "says 404",
        () => ({
          raw: httpAnswer("<html>none</html>", "text/html", "404 Not Found"),
        }),
      ],
      [
        "says 403",
        () => ({ raw: httpAnswer("", "text/html", "403 Forbidden") }),
      ],
    ];
    for (const [what, reply] of answers) {
      t.test(what, async (t) => {
        const pool = await startPool(
          t,
          poolScript(({ path, body }) =>
            path === "/jsonrpc" ? reply(body) : undefined,
          ),
        );
        const logger = keepingLogger();
        const xapi = clientOf(t, pool, { transport: "auto", logger });
        await xapi.connect();
        t.match(xapi.state, { name: "connected", transport: "json-in-xml" });
        t.match(
          logger.lines.filter(({ level }) => level === "warn"),
          [{ message: /falling back to json-in-xml/ }],
        );
        await xapi.call("pool.get_all_records");
        t.equal(pool.calls.filter(({ path }) => path === "/jsonrpc").length, 1);
      });
    }
  },
);

const unavailable: FakeReply = {
  raw: httpAnswer("<html/>", "text/html", "503 Service Unavailable"),
  keep: true,
};

t.test(
  "auto: HTTP 500 is no proof; after three logins the next transport is used, and JSON-RPC is tried first at each login",
  async (t) => {
    const clock = new FakeClock();
    const pool = await startPool(
      t,
      poolScript(({ path }) => (path === "/jsonrpc" ? unavailable : undefined)),
    );
    const xapi = clientOf(t, pool, {
      transport: "auto",
      clock,
      backoff: { firstMs: 100, maxMs: 200 },
    });
    void xapi.connect();
    while (xapi.state.name !== "connected") {
      clock.endPauses(200);
      await new Promise((resolve) => setImmediate(resolve));
    }
    t.match(xapi.state, { transport: "json-in-xml" });
    const jsonLogins = () =>
      pool.calls.filter(({ path }) => path === "/jsonrpc").length;
    t.equal(jsonLogins(), 3);
    // The pool was upgraded; its restart ends the session.
    pool.answer(
      poolScript(({ method, path }) =>
        method === "VM.get_all"
          ? path === "/json"
            ? { error: ["SESSION_INVALID", SESSION] }
            : { value: [] }
          : undefined,
      ),
    );
    t.same(await xapi.call("VM.get_all"), []);
    t.match(xapi.state, { transport: "json-rpc" });
  },
);

for (const method of ["session.login_with_password", "pool.get_all_records"])
  for (const [what, reply] of [
    ["HTTP 503", unavailable],
    ["a truncated body", { raw: httpAnswer('{"jsonrpc":"2.0","re') }],
  ] as const)
    t.test(
      `auto: after ${what} to ${method} JSON-RPC is retried on a pool that used it before`,
      async (t) => {
        const clock = new FakeClock();
        const pool = await startPool(t);
        const xapi = clientOf(t, pool, {
          transport: "auto",
          clock,
          backoff: { firstMs: 100, maxMs: 200 },
        });
        await xapi.connect();
        let bad = 6;
        pool.answer(
          poolScript((call) =>
            call.method === "VM.get_all" && bad > 0
              ? { error: ["SESSION_INVALID", SESSION] }
              : call.method === method && bad-- > 0
                ? reply
                : call.method === "VM.get_all"
                  ? { value: [] }
                  : undefined,
          ),
        );
        const called = xapi.call("VM.get_all");
        while (xapi.state.name !== "connected" || bad > 0) {
          clock.endPauses(200);
          await new Promise((resolve) => setImmediate(resolve));
        }
        await called;
        t.match(xapi.state, { transport: "json-rpc", generation: 2 });
        t.ok(
          pool.calls.every(({ path }) => path === "/jsonrpc"),
          "no other transport was tried",
        );
      },
    );

t.test(
  "auto: a session that is refused immediately ends the fallback",
  async (t) => {
    const pool = await startPool(
      t,
      poolScript(({ path, method }) =>
        path === "/jsonrpc"
          ? { raw: httpAnswer("", "text/html", "404 Not Found") }
          : path === "/json" && !isLogin(method)
            ? { error: ["SESSION_INVALID", SESSION] }
            : undefined,
      ),
    );
    const xapi = clientOf(t, pool, { transport: "auto" });
    await xapi.connect();
    t.match(xapi.state, { name: "connected", transport: "xml-rpc" });
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

t.test(
  "a coordinator that accepts connections without answering is detected by a call, and the members are tried first",
  async (t) => {
    const hosts = {
      "OpaqueRef:h2": { uuid: "h2", address: ownAddress(1), name_label: "" },
    };
    const withHosts = poolScript(({ method }) =>
      method === "host.get_all_records"
        ? { value: hosts }
        : method === "VM.get_all"
          ? { value: [] }
          : undefined,
    );
    const old = await startPool(t, withHosts);
    await startPool(t, withHosts, ownAddress(1), old.port);
    const clock = new FakeClock();
    let learned = 0;
    const xapi = clientOf(t, old, {
      clock,
      connectTimeoutMs: 5_000,
      onCandidates: () => learned++,
    });
    await xapi.connect();
    await until(() => learned > 0);
    old.answer(() => ({ silent: true }));
    const before = old.calls.length;
    const call = xapi.call("VM.get_all", [], { timeoutMs: 1_000 });
    await until(() => old.calls.length > before);
    clock.advance(1_000);
    await t.rejects(call, { code: "CALL_TIMEOUT" });
    await until(() => old.methods.at(-1) === "session.get_uuid");
    const states: string[] = [];
    xapi.onState((state) =>
      states.push(
        "address" in state ? `${state.name} ${state.address}` : state.name,
      ),
    );
    clock.advance(5_000);
    await until(() => xapi.counters.logins === 2);
    t.same(states, [
      `connecting ${ownAddress(1)}:${old.port}`,
      `connected ${ownAddress(1)}:${old.port}`,
    ]);
    t.same(await xapi.call("VM.get_all"), []);
  },
);
