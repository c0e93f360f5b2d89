import t from "tap";
import { clientOf, keepingLogger, startPool } from "./client.js";
import { FakeClock } from "./fake-clock.js";
import {
  httpAnswer,
  poolScript,
  SESSION,
  type FakeReply,
} from "./fake-xapi.js";
import { isLogin } from "./logins.js";

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
  "auto: HTTP 500 is not proof; after three logins the next transport is used, and JSON-RPC is tried first at each login",
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
