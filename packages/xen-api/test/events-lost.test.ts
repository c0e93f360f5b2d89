import t from "tap";
import { clientOf, startPool } from "./client.js";
import { answer, eventScript, follow, tokenOf } from "./event-script.js";
import { until } from "./fake-clock.js";
import {
  poolScript,
  SESSION,
  type FakeCall,
  type FakeReply,
} from "./fake-xapi.js";
import { ownAddress } from "./loopback.js";

t.test("EVENTS_LOST ends the stream", async (t) => {
  const pool = await startPool(t, eventScript([{ error: ["EVENTS_LOST"] }]));
  const xapi = clientOf(t, pool);
  await xapi.connect();
  const { items, ended } = follow(xapi.events({ from: tokenOf(100) }));
  await ended;
  t.same(items, [{ kind: "lost", reason: "events-lost" }]);
});

t.test(
  "a new session on a pool whose event.inject lags changes nothing else",
  async (t) => {
    let sessions = 0;
    const pool = await startPool(
      t,
      eventScript([{ error: ["SESSION_INVALID", SESSION] }], ({ method }) =>
        method === "session.login_with_password"
          ? { value: `${SESSION}${++sessions}` }
          : method === "event.inject"
            ? { value: tokenOf(99) }
            : undefined,
      ),
    );
    const xapi = clientOf(t, pool);
    await xapi.connect();
    const { items, ended } = follow(
      xapi.events({ from: "00000000000000000100,00000000000000000077" }),
    );
    await ended;
    t.same(items, [{ kind: "lost", reason: "new-session" }]);
  },
);

t.test("a new session ends the stream, as events may be missing", async (t) => {
  let sessions = 0;
  const pool = await startPool(
    t,
    eventScript(
      [answer(101), { error: ["SESSION_INVALID", SESSION] }],
      ({ method }) =>
        method === "session.login_with_password"
          ? { value: `${SESSION}${++sessions}` }
          : method === "event.inject"
            ? { value: tokenOf(200) }
            : undefined,
    ),
  );
  const xapi = clientOf(t, pool, { throttleMs: 0 });
  await xapi.connect();
  const { items, ended } = follow(xapi.events({ from: tokenOf(100) }));
  await ended;
  t.match(items, [
    { kind: "changes" },
    { kind: "lost", reason: "new-session" },
  ]);
});

t.test(
  "a token of an earlier session is not used in a later one",
  async (t) => {
    let sessions = 0;
    const pool = await startPool(
      t,
      eventScript([answer(301)], ({ method, params }) => {
        if (method === "session.login_with_password")
          return { value: `${SESSION}${++sessions}` };
        if (method === "event.inject")
          return { value: tokenOf(200 + sessions) };
        return method === "VM.get_all" && params[0] === `${SESSION}1`
          ? { error: ["SESSION_INVALID", "x"] }
          : undefined;
      }),
    );
    const xapi = clientOf(t, pool);
    await xapi.connect();
    const token = await xapi.injectToken();
    await xapi.call("VM.get_all").catch(() => undefined);
    const { items, ended } = follow(xapi.events({ from: token }));
    await ended;
    t.same(items, [{ kind: "lost", reason: "new-session" }]);
  },
);

t.test("another coordinator ends the stream", async (t) => {
  const next = await startPool(t, poolScript(), ownAddress(1));
  const first = await startPool(
    t,
    eventScript([{ error: ["HOST_IS_SLAVE", ownAddress(1)] }]),
    ownAddress(0),
    next.port,
  );
  const xapi = clientOf(t, first);
  await xapi.connect();
  const { items, ended } = follow(xapi.events({ from: tokenOf(50) }));
  await ended;
  t.same(items, [{ kind: "lost", reason: "new-coordinator" }]);
});

t.test(
  "a pool database restored to an earlier state is detected",
  async (t) => {
    const cases: [
      string,
      readonly FakeReply[],
      (call: FakeCall) => FakeReply | undefined,
    ][] = [
      [
        "after a new login, by a fresh token that is older than ours",
        [{ error: ["SESSION_INVALID", SESSION] }],
        ({ method }) =>
          method === "event.inject" ? { value: tokenOf(90) } : undefined,
      ],
      [
        "by an answer whose token is older than ours",
        [answer(99)],
        () => undefined,
      ],
      [
        "by counts that move while the token stands still",
        [answer(100, { vm: 5 }), answer(100, { vm: 4 })],
        () => undefined,
      ],
      [
        "by a token that the pool does not understand any more",
        [{ error: ["EVENT_FROM_TOKEN_PARSE_FAILURE", "x"] }],
        () => undefined,
      ],
    ];
    for (const [how, replies, more] of cases) {
      t.test(how, async (t) => {
        const pool = await startPool(t, eventScript(replies, more));
        const xapi = clientOf(t, pool, { throttleMs: 0 });
        await xapi.connect();
        const { items, ended } = follow(xapi.events({ from: tokenOf(100) }));
        await ended;
        t.same(items.at(-1), { kind: "lost", reason: "token-rewound" });
      });
    }
  },
);

t.test("changing counts of classes without events are ignored", async (t) => {
  const pool = await startPool(
    t,
    eventScript([
      answer(100, { vm: 5, session: 1 }),
      answer(100, { vm: 5, session: 2 }),
      answer(101, { vm: 6 }, ["a"]),
    ]),
  );
  const xapi = clientOf(t, pool, { throttleMs: 0 });
  await xapi.connect();
  const { items } = follow(xapi.events({ from: tokenOf(100) }));
  await until(() => items.length === 3);
  t.ok(items.every(({ kind }) => kind === "changes"));
});
