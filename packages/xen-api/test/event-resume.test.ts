import t from "tap";
import { clientOf, startPool } from "./client.js";
import { answer, eventScript, follow, tokenOf } from "./event-script.js";
import { until } from "./fake-clock.js";
import { SESSION, type FakeCall, type FakeReply } from "./fake-xapi.js";

const HOST = "OpaqueRef:4057aaaa-0000-4000-8000-000000000001";

/** A pool whose sessions end with each SESSION_INVALID, and that says when XAPI was started. */
function restartingPool(
  replies: readonly FakeReply[],
  {
    startedAt,
    injected = 200,
  }: {
    /** `agent_start_time` of the coordinator in each session; undefined: the call is refused. */
    readonly startedAt: readonly (string | undefined)[];
    readonly injected?: number;
  },
) {
  let sessions = 0;
  return eventScript(replies, ({ method }: FakeCall) => {
    switch (method) {
      case "session.login_with_password":
        return { value: `${SESSION}${++sessions}` };
      case "event.inject":
        return { value: tokenOf(injected) };
      case "pool.get_master":
        return { value: HOST };
      case "host.get_other_config": {
        const time = startedAt[sessions - 1];
        return time === undefined
          ? { error: ["RBAC_PERMISSION_DENIED", method, ""] }
          : { value: { agent_start_time: time } };
      }
      default:
        return undefined;
    }
  });
}

const expired: FakeReply = { error: ["SESSION_INVALID", SESSION] };

t.test("a position names the process of XAPI that issued it", async (t) => {
  const pool = await startPool(
    t,
    restartingPool([], { startedAt: ["1795236000."] }),
  );
  const xapi = clientOf(t, pool);
  await xapi.connect();
  t.same(await xapi.eventPosition(), {
    token: tokenOf(200),
    issuer: `${HOST} 1795236000.`,
  });
});

t.test(
  "a pool that does not report it gives a position without issuer",
  async (t) => {
    for (const time of [undefined, ""]) {
      const pool = await startPool(
        t,
        restartingPool([], { startedAt: [time] }),
      );
      const xapi = clientOf(t, pool);
      await xapi.connect();
      t.same(await xapi.eventPosition(), { token: tokenOf(200) });
    }
  },
);

t.test(
  "a stream continues in another session of the same process of XAPI",
  async (t) => {
    const pool = await startPool(
      t,
      restartingPool([answer(201), expired, answer(202)], {
        startedAt: ["1.", "1."],
      }),
    );
    const xapi = clientOf(t, pool, { throttleMs: 0 });
    await xapi.connect();
    const { token, issuer } = await xapi.eventPosition();
    const { items } = follow(xapi.events({ from: token, issuer }));
    await until(() => items.length === 2);
    t.match(items, [
      { kind: "changes", token: tokenOf(201) },
      { kind: "changes", token: tokenOf(202) },
    ]);
    const polls = pool.calls.filter(({ method }) => method === "event.from");
    t.same(
      polls.slice(0, 3).map(({ params }) => [params[0], params[2]]),
      [
        [`${SESSION}1`, tokenOf(200)],
        [`${SESSION}1`, tokenOf(201)],
        [`${SESSION}2`, tokenOf(201)],
      ],
    );
  },
);

for (const [why, startedAt, injected, reason] of [
  ["XAPI was started again", ["1.", "2."], 200, "xapi-restarted"],
  [
    "the current issuer of tokens is unknown",
    ["1.", undefined],
    200,
    "new-session",
  ],
  ["the database is older than the token", ["1.", "1."], 90, "token-rewound"],
] as const)
  t.test(`a stream ends in another session when ${why}`, async (t) => {
    const pool = await startPool(
      t,
      restartingPool([answer(101), expired], { startedAt, injected }),
    );
    const xapi = clientOf(t, pool, { throttleMs: 0 });
    await xapi.connect();
    const { issuer } = await xapi.eventPosition();
    const { items, ended } = follow(
      xapi.events({ from: tokenOf(100), issuer }),
    );
    await ended;
    t.match(items.at(-1), { kind: "lost", reason });
  });

t.test(
  "a token of an earlier program is used only if its issuer issues tokens now",
  async (t) => {
    for (const [issuer, expected] of [
      [`${HOST} 1.`, { kind: "changes", token: tokenOf(101) }],
      [`${HOST} 0.`, { kind: "lost", reason: "xapi-restarted" }],
      ["OpaqueRef:other 1.", { kind: "lost", reason: "new-coordinator" }],
    ] as const) {
      const pool = await startPool(
        t,
        restartingPool([answer(101)], { startedAt: ["1."] }),
      );
      const xapi = clientOf(t, pool);
      await xapi.connect();
      const { items } = follow(xapi.events({ from: tokenOf(100), issuer }));
      await until(() => items.length === 1);
      t.match(items[0], expected);
      if (expected.kind === "lost")
        t.notOk(pool.methods.includes("event.from"), "not even asked");
    }
  },
);
