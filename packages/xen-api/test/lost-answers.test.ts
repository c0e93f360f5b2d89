import t, { type Test } from "tap";
import type { Logger } from "@xo-server/kit";
import { creationMark, type IndirectRoute } from "../src/index.js";
import { clientOf, keepingLogger, startPool } from "./client.js";
import { follow } from "./event-script.js";
import { FakeClock, until } from "./fake-clock.js";
import {
  poolScript,
  TOKEN,
  type FakeCall,
  type FakeReply,
} from "./fake-xapi.js";

const TASK = "OpaqueRef:7a5c0000-0000-4000-8000-000000000001";
const MARKS = { "xo-call": "part 1", "xo-epoch": "3" };

const task = (otherConfig: object) => ({
  status: "success",
  progress: 1,
  result: "<value>x</value>",
  error_info: [],
  other_config: otherConfig,
});

interface PoolAnswers {
  /** What it lists, each time. */
  readonly tasks?: readonly object[];
  /** To calls that have no other answer. */
  readonly more?: (
    call: FakeCall,
  ) => FakeReply | Promise<FakeReply> | undefined;
  readonly logger?: Logger;
  readonly route?: IndirectRoute;
}

/**
 * A pool that answers the first call of a method with `first`, later ones as usual.
 */
async function setUp(
  t: Test,
  requested: string,
  first: FakeReply,
  { tasks = [], more = () => undefined, ...options }: PoolAnswers = {},
) {
  const clock = new FakeClock();
  let isFirst = true;
  const lists = [...tasks];
  const pool = await startPool(
    t,
    poolScript((call) => {
      const { method } = call;
      if (method === requested) {
        const reply = isFirst ? first : { value: "again" };
        isFirst = false;
        return reply;
      }
      if (method === "task.get_all_records")
        return { value: lists.length > 1 ? lists.shift() : (lists[0] ?? {}) };
      if (method === "task.get_record") return { value: task(MARKS) };
      return more(call);
    }),
  );
  const xapi = clientOf(t, pool, { clock, ...options });
  await xapi.connect();
  // The client requests the addresses of the members by itself.
  await until(() => pool.methods.includes("host.get_all_records"));
  await xapi.call("pool.get_all_records");
  const count = () => pool.methods.filter((name) => name === requested).length;
  const arrived = () => until(() => count() === 1);
  /** Time passes until the call has settled. */
  const settled = async (call: Promise<unknown>) => {
    await arrived();
    const hurry = setInterval(() => {
      clock.advance(1_000);
    }, 2);
    await call.catch(() => undefined);
    clearInterval(hurry);
    return call;
  };
  return { clock, pool, xapi, count, arrived, settled };
}

t.test("a getter whose answer does not come is sent again", async (t) => {
  const { clock, pool, xapi, count, arrived } = await setUp(
    t,
    "VM.get_record",
    { silent: true },
  );
  const call = xapi.call("VM.get_record", ["OpaqueRef:vm"]);
  await arrived();
  const { socket } = pool.calls.at(-1)!;
  clock.advance(19_999);
  t.equal(count(), 1);
  clock.advance(1);
  t.equal(await call, "again");
  t.ok(socket.destroyed, "the connection is given up");
});

t.test(
  "a setter whose answer does not come is not sent again, and its result is read from the pool",
  async (t) => {
    for (const isDone of [true, false]) {
      const { pool, xapi, count, settled } = await setUp(
        t,
        "VM.set_name_label",
        { silent: true },
        {
          more: ({ method }) =>
            method === "VM.get_name_label"
              ? { value: isDone ? "x" : "before" }
              : undefined,
        },
      );
      const call = xapi.call("VM.set_name_label", ["OpaqueRef:vm", "x"]);
      if (isDone) t.equal(await settled(call), "");
      else await t.rejects(settled(call), { code: "RESULT_UNKNOWN" });
      t.equal(count(), 1);
      const { params } = pool.calls.findLast(
        ({ method }) => method === "VM.get_name_label",
      )!;
      t.same(params.slice(1), ["OpaqueRef:vm"]);
    }
  },
);

t.test(
  "an object that was created with a mark is found by it if the answer does not come",
  async (t) => {
    for (const isDone of [true, false]) {
      const other = creationMark();
      const record = { name_label: "n", other_config: creationMark() };
      const { xapi, count, settled } = await setUp(
        t,
        "network.create",
        { cut: true },
        {
          more({ method, params }) {
            if (method === "network.get_by_name_label")
              return { value: params[1] === "n" ? ["other", "new"] : [] };
            if (method !== "network.get_other_config") return undefined;
            const isNew = isDone && params[1] === "new";
            return { value: isNew ? { ...record.other_config } : other };
          },
        },
      );
      const call = xapi.call("network.create", [record]);
      if (isDone) t.equal(await settled(call), "new");
      else await t.rejects(settled(call), { code: "RESULT_UNKNOWN" });
      t.equal(count(), 1, "it was not sent again");
    }
  },
);

t.test(
  "an action without a visible result fails after two minutes, or when its caller aborts it",
  async (t) => {
    for (const [timeoutMs, limitMs] of [
      [undefined, 120_000],
      [600_000, 600_000],
    ] as const) {
      const { clock, xapi, count, arrived } = await setUp(
        t,
        "host.call_plugin",
        { silent: true },
      );
      const options = timeoutMs === undefined ? {} : { timeoutMs };
      const call = xapi.call("host.call_plugin", [], options);
      let hasEnded = false;
      const ended = call.catch((error: unknown) => {
        hasEnded = true;
        return error;
      });
      await arrived();
      clock.advance(limitMs - 1);
      await new Promise((resolve) => setImmediate(resolve));
      t.notOk(hasEnded);
      clock.advance(1);
      t.match(await ended, { code: "RESULT_UNKNOWN" });
      t.equal(count(), 1);
    }
  },
);

t.test(
  "an action ends a minute after it was sent if its pool cannot be reached any more",
  async (t) => {
    for (const method of ["Async.VM.start", "host.call_plugin"]) {
      let isDown = false;
      const { clock, pool, xapi, count, arrived } = await setUp(
        t,
        method,
        { silent: true },
        { more: () => (isDown ? { silent: true } : undefined) },
      );
      const call = method.startsWith("Async.")
        ? xapi.callAsync("VM.start", [], { marks: MARKS })
        : xapi.call(method, []);
      let hasEnded = false;
      const ended = call.catch((error: unknown) => {
        hasEnded = true;
        return error;
      });
      await arrived();
      const { socket } = pool.calls.at(-1)!;
      isDown = true;
      let seconds = 0;
      while (!hasEnded && seconds < 300) {
        clock.advance(1_000);
        seconds++;
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      t.match(await ended, {
        code: "RESULT_UNKNOWN",
        message: /has not answered for 60000 ms/,
      });
      t.ok(seconds >= 60 && seconds <= 63, `after ${seconds} s`);
      t.ok(socket.destroyed, "the connection is given up");
      t.equal(count(), 1, "it was not sent again");
    }
  },
);

for (const [name, reply] of Object.entries({
  "never comes": { silent: true },
  "is lost with its connection": { cut: true },
  "is unreadable": { raw: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n}{" },
} satisfies Record<string, FakeReply>)) {
  t.test(
    `the task of a call whose answer ${name} is found in the list by its marks`,
    async (t) => {
      const other = { ...MARKS, "xo-call": "part 2" };
      const { xapi, count, settled } = await setUp(t, "Async.VM.clone", reply, {
        tasks: [
          { "OpaqueRef:other": task(other) },
          { "OpaqueRef:other": task(other), [TASK]: task(MARKS) },
        ],
      });
      const seen: string[] = [];
      const call = xapi.callAsync("VM.clone", [], {
        marks: MARKS,
        onTask: (ref) => seen.push(ref),
      });
      t.equal(await settled(call), "x");
      t.same(seen, [TASK]);
      t.equal(count(), 1, "it was not sent again");
    },
  );

  t.test(
    `a call whose answer ${name} fails if the pool has no such task`,
    async (t) => {
      const { xapi, count, settled } = await setUp(t, "Async.VM.clone", reply, {
        tasks: [{ "OpaqueRef:other": task({}) }],
      });
      const call = xapi.callAsync("VM.clone", [], { marks: MARKS });
      await t.rejects(settled(call), {
        code: "raw" in reply ? "BAD_ANSWER" : "RESULT_UNKNOWN",
      });
      t.equal(count(), 1, "it was not sent again");
    },
  );

  t.test(
    `the task of a call without marks of its own whose answer ${name} is found as well`,
    async (t) => {
      const config: Record<string, string> = {};
      const { pool, xapi, settled } = await setUp(t, "Async.VM.clone", reply, {
        tasks: [{ [TASK]: task(config) }],
        more({ method }) {
          if (method !== "task.get_record") return undefined;
          return { value: task(config) };
        },
      });
      const call = xapi.callAsync("VM.clone", []);
      await until(() => pool.methods.includes("Async.VM.clone"));
      const { head } = pool.calls.find(
        ({ method }) => method === "Async.VM.clone",
      )!;
      const [, mark = ""] =
        /X-Http-other-config-xo-call: (\S+)/.exec(head) ?? [];
      t.match(mark, /^[0-9a-f-]{36}$/);
      config["xo-call"] = mark;
      t.equal(await settled(call), "x");
    },
  );
}

t.test(
  "a call that arrives after its result was reported as unknown is logged",
  async (t) => {
    const logger = keepingLogger();
    let arrives: (reply: FakeReply) => void = () => undefined;
    const arrived = new Promise<FakeReply>((resolve) => (arrives = resolve));
    const { xapi, settled } = await setUp(
      t,
      "Async.VM.clone",
      { cut: true },
      {
        logger,
        more: ({ method }) => (method === "event.from" ? arrived : undefined),
      },
    );
    follow(xapi.events({ from: TOKEN }));
    const call = xapi.callAsync("VM.clone", [], { marks: MARKS });
    await t.rejects(settled(call), { code: "RESULT_UNKNOWN" });
    const event = {
      id: "1",
      timestamp: "0.0",
      class: "task",
      operation: "add",
      ref: TASK,
      snapshot: task(MARKS),
    };
    arrives({
      value: { events: [event], valid_ref_counts: { task: 1 }, token: TOKEN },
    });
    await until(() => logger.lines.some(({ level }) => level === "warn"));
    t.match(
      logger.lines.find(({ level }) => level === "warn")?.message,
      `Async.VM.clone has arrived late, after its result was reported as unknown: it is carried out as XAPI task ${TASK}`,
    );
  },
);

t.test(
  "it is only checked soon whether an answer is late if there is another way to the pool",
  async (t) => {
    for (const isAvailable of [false, true]) {
      const { clock, xapi, arrived } = await setUp(
        t,
        "VM.get_record",
        { silent: true },
        {
          route: {
            isAvailable,
            connect: () => new Promise(() => undefined),
            listen: () => new Promise(() => undefined),
          },
        },
      );
      const soonDue = () => clock.pending.filter((ms) => ms <= 2_000).length;
      const before = soonDue();
      void xapi.call("VM.get_record", ["OpaqueRef:vm"]).catch(() => undefined);
      await arrived();
      t.equal(soonDue() - before, isAvailable ? 1 : 0);
    }
  },
);
