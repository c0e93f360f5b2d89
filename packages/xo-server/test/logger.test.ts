import { XoError } from "@xo-server/model";
import t from "tap";
import {
  createLoggers,
  type LogFormat,
  type LogLevel,
} from "../src/log/logger.js";

function collect(format: LogFormat, level: LogLevel = "info") {
  const lines: string[] = [];
  const loggers = createLoggers({
    format,
    level,
    now: () => Date.UTC(2026, 10, 21, 6),
    destination: { write: (text) => lines.push(text) },
  });
  return { lines, loggers };
}

t.test("the console shows time, name and message", async (t) => {
  const { lines, loggers } = collect("console");
  loggers.named("xo:main").info("Web server listening on http://0.0.0.0:9000");
  loggers.named("xen-api").info("root@192.168.1.1: connected");
  loggers.named("xo:perf").warn("blocked for 3419ms");
  t.same(lines, [
    "2026-11-21T06:00:00.000Z info xo:main Web server listening on http://0.0.0.0:9000\n",
    "2026-11-21T06:00:00.000Z info xen-api root@192.168.1.1: connected\n",
    "2026-11-21T06:00:00.000Z warn xo:perf blocked for 3419ms\n",
  ]);
});

t.test(
  "lines for the journal have a priority instead of the time",
  async (t) => {
    const { lines, loggers } = collect("journal", "debug");
    const logger = loggers.named("xo:main");
    logger.debug("1");
    logger.info("2", { pool: "a b" });
    logger.warn("3\n<0>forged");
    logger.error("4");
    t.same(lines, [
      "<7>xo:main 1\n",
      '<6>xo:main 2 pool="a b"\n',
      "<4>xo:main 3\\n<0>forged\n",
      "<3>xo:main 4\n",
    ]);
  },
);

t.test("identical warnings are limited to 10 a minute", async (t) => {
  const lines: string[] = [];
  const timers: (() => void)[] = [];
  let time = 0;
  const loggers = createLoggers({
    format: "journal",
    now: () => time,
    destination: { write: (text) => lines.push(text) },
    schedule: (callback, ms) => {
      t.equal(ms, 60_000);
      timers.push(callback);
    },
  });
  const logger = loggers.named("xen-api", { pool: "a" });
  for (let i = 0; i < 25; i++) logger.warn("refused", { host: "x" });
  logger.warn("refused", { host: "y" });
  loggers.named("xen-api", { pool: "b" }).warn("refused", { host: "x" });
  for (let i = 0; i < 20; i++) logger.info("connected");
  t.equal(lines.filter((line) => line.includes("host=x")).length, 10 + 1);
  t.equal(lines.filter((line) => line.includes("host=y")).length, 1);
  t.equal(lines.filter((line) => line.includes("connected")).length, 20);
  t.equal(timers.length, 1);
  time = 60_000;
  timers[0]!();
  t.equal(
    lines.at(-1),
    "<4>xen-api refused (15 more within a minute) pool=a host=x\n",
  );
  logger.warn("refused", { host: "x" });
  t.match(lines.at(-1), /refused pool=a host=x/, "a new minute");
});

t.test("data follow the message on the console", async (t) => {
  const { lines, loggers } = collect("console");
  loggers.named("xo:perf").warn("blocked for 60ms", {
    running: "inventory: apply",
    ms: 60.5,
  });
  t.match(lines[0], 'blocked for 60ms running="inventory: apply" ms=60.5\n');
  const error = Object.assign(new Error("disk full"), { code: "ENOSPC" });
  loggers.named("xo:store").warn("not written", { error });
  t.match(
    lines[1],
    'not written error={"message":"disk full","code":"ENOSPC"}\n',
  );
});

t.test(
  "JSON lines are objects of level, time, name, msg and data",
  async (t) => {
    const { lines, loggers } = collect("json");
    loggers.named("xo:main").warn("careful", { pool: "a" });
    t.same(JSON.parse(lines[0]!), {
      level: "warn",
      time: "2026-11-21T06:00:00.000Z",
      name: "xo:main",
      pool: "a",
      msg: "careful",
    });
  },
);

t.test("messages below the level are not written", async (t) => {
  const { lines, loggers } = collect("console", "warn");
  const logger = loggers.named("x");
  logger.debug("1");
  logger.info("2");
  logger.warn("3");
  logger.error("4");
  t.equal(lines.length, 2);
  const silent = collect("console", "silent");
  silent.loggers.named("x").error("5");
  t.same(silent.lines, []);
});

t.test("values under keys that name secrets are not written", async (t) => {
  const { lines, loggers } = collect("json");
  loggers.named("x").info("in", {
    password: "hunter2",
    nested: [{ sessionRef: "hunter2", authorization: "hunter2", user: "root" }],
    cause: new XoError("NOT_CONNECTED", { pool: "p" }, { apiKey: "hunter2" }),
  });
  t.notMatch(lines[0], "hunter2");
  t.match(JSON.parse(lines[0]!), {
    nested: [{ user: "root" }],
    cause: { code: "NOT_CONNECTED", message: /^not connected to p:/ },
  });
});

t.test("data without an end are cut", async (t) => {
  const { lines, loggers } = collect("json");
  const circle: Record<string, unknown> = {};
  circle["again"] = circle;
  loggers.named("x").info("round", { circle });
  t.match(lines[0], "[deep]");
});

t.test(
  "a message cannot forge a second line or control the terminal",
  async (t) => {
    const { lines, loggers } = collect("console");
    loggers.named("x").info("a\n2026 xo:main forged\u001b[2J");
    t.equal(
      lines[0],
      "2026-11-21T06:00:00.000Z info x a\\n2026 xo:main forged\\u001b[2J\n",
    );
    loggers.named("x").info("a", { b: "\u009b2J\u001b[2J", c: "\u202e" });
    t.equal(
      lines[1],
      "2026-11-21T06:00:00.000Z info x a b=\\u009b2J\\u001b[2J c=\\u202e\n",
    );
  },
);
