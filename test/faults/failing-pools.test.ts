import t from "tap";
import { PASSWORD } from "../api-session.js";
import { RunningProgram } from "../running-program.js";
import { isOn, setFault, simulate } from "../simulated.js";
import { StatusPage } from "../status-page.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 120_000 };
t.comment("timeout=120000");

const env = { XO_ADMIN_PASSWORD: PASSWORD };
const LISTENING = /Web server listening on (http:\S+)/;

t.test("pools that fail do not disturb the others", LIMIT, async (t) => {
  const [good] = await simulate(t, "--churn", "20");
  const pool = (label: string, url: string, password: string) =>
    `  - { label: ${label}, hosts: ["${url}"], password: ${password} }`;
  const cwd = t.testdir({
    "config.yaml": [
      "xapi: { throttleMs: 50, backoff: { firstMs: 50, maxMs: 200 } }",
      "pools:",
      pool("Good", good!.url, good!.password),
      pool("Wrong password", good!.url, "hunter2"),
      pool("Unreachable", "http://127.0.0.1:1", "hunter2"),
    ].join("\n"),
  });
  const args = ["start", "--host", "127.0.0.1", "--port", "0"];
  const server = new RunningProgram(t, "xo-server", args, { cwd, env });
  const page = await StatusPage.open(t, await server.find(LISTENING), PASSWORD);

  t.test("each pool shows its state", async (t) => {
    const { pools } = await page.until(
      ({ pools }) =>
        pools["good"]?.state === "watching" &&
        pools["wrong-password"]?.state === "failed" &&
        pools["unreachable"]?.state === "backing-off",
    );
    t.match(pools["wrong-password"]!.error, {
      code: "SESSION_AUTHENTICATION_FAILED",
      message: /rejected the user name or password/,
    });
    t.match(pools["unreachable"]!.error, { code: "CONNECTION_REFUSED" });
    t.ok(pools["good"]!.objects > 1000);
  });

  for (const [fault, setting] of [
    ["sessionInvalid", { value: true, times: 1 }],
    ["eventsLost", { value: true, times: 1 }],
    ["cut", { value: 100, method: "event.from", times: 2 }],
    ["badJson", { value: true, method: "event.from", times: 2 }],
    ["http500", { value: true, method: "event.from", times: 2 }],
  ] as const)
    t.test(
      `${fault}: the pool is live again, the same as before`,
      async (t) => {
        const logins = count(server, /: connected/);
        await setFault(good!, fault, setting);
        await page.until(async () => !(await isOn(good!, fault)));
        const injectedAt = new Date().toISOString();
        const { pools } = await page.until(({ pools }) => {
          const { state, staleSince, error, lastChangeAt } = pools["good"]!;
          const isLive = state === "watching" && !staleSince && !error;
          return isLive && lastChangeAt! > injectedAt;
        });
        t.ok(pools["good"]!.objects > 1000);
        t.ok(count(server, /: connected/) <= logins + 3, "without a storm");
      },
    );

  t.test("the status has been followed without a gap", async (t) => {
    const { followed, subscribed } = await page.compare();
    t.same(followed, subscribed);
  });

  t.test("no password is in the log", async (t) => {
    t.equal(await server.stop(), 0);
    t.notMatch(server.output, "hunter2");
    t.notMatch(server.output, `password: ${good!.password}`);
  });
});

t.test(
  "a pool whose event.from fails while other calls work is stale until it answers again",
  LIMIT,
  async (t) => {
    const [pool] = await simulate(t, "--churn", "5");
    const cwd = t.testdir({
      "config.yaml": [
        "xapi: { eventTimeoutMs: 1000, eventGraceMs: 500, probeTimeoutMs: 500 }",
        `pools: [{ label: P, hosts: ["${pool!.url}"], password: ${pool!.password} }]`,
      ].join("\n"),
    });
    const args = ["start", "--host", "127.0.0.1", "--port", "0"];
    const server = new RunningProgram(t, "xo-server", args, { cwd, env });
    const page = await StatusPage.open(
      t,
      await server.find(LISTENING),
      PASSWORD,
    );
    await page.until(({ pools }) => pools["p"]?.state === "watching");
    for (const [fault, value] of [
      ["hang", true],
      ["drop", true],
      ["stall", 10],
      ["delay", 60_000],
    ] as const) {
      await setFault(pool!, fault, { value, method: "event.from" });
      const { pools } = await page.until(
        ({ pools }) => typeof pools["p"]?.staleSince === "string",
      );
      t.match(
        pools["p"],
        { state: "watching", error: { code: "EVENTS_SILENT" } },
        fault,
      );
      await setFault(pool!, fault, false);
      await page.until(({ pools }) => {
        const { staleSince, error } = pools["p"]!;
        return !staleSince && !error;
      });
    }
    t.equal(count(server, /: connected/), 1, "in one session");
  },
);

t.test(
  "an unresponsive pool does not prevent the shutdown of the server",
  LIMIT,
  async (t) => {
    const [pool] = await simulate(t);
    const cwd = t.testdir({
      "config.yaml": `pools: [{ label: P, hosts: ["${pool!.url}"], password: ${pool!.password} }]`,
    });
    const args = ["start", "--host", "127.0.0.1", "--port", "0"];
    const server = new RunningProgram(t, "xo-server", args, { cwd, env });
    const page = await StatusPage.open(
      t,
      await server.find(LISTENING),
      PASSWORD,
    );
    await page.until(({ pools }) => pools["p"]?.state === "watching");
    await setFault(pool!, "silent", true);
    t.equal(await server.stop(), 0);
  },
);

function count({ lines }: RunningProgram, pattern: RegExp): number {
  return lines.filter((line) => pattern.test(line)).length;
}
