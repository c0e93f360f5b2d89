import t from "tap";
import { clientOf, startPool } from "./client.js";
import { FakeClock, until } from "./fake-clock.js";
import {
  poolScript,
  SESSION,
  TOKEN,
  type FakeCall,
  type FakeReply,
} from "./fake-xapi.js";

const TASK = "OpaqueRef:7a5c0000-0000-4000-8000-000000000001";
const NEXT = TOKEN.replace("100,", "101,");

const task = (status: string, more: object = {}) => ({
  uuid: "t",
  status,
  progress: 0,
  result: "",
  error_info: [],
  ...more,
});
const done = (result: string) => task("success", { progress: 1, result });

function events(operation: string, record?: object): FakeReply {
  const event = {
    id: "1",
    timestamp: "0.0",
    class: "task",
    operation,
    ref: TASK,
    ...(record === undefined ? {} : { snapshot: record }),
  };
  return {
    value: { events: [event], valid_ref_counts: { task: 1 }, token: NEXT },
  };
}

/** A pool with one task: `polls` are the answers of event.from in turn; `record` is the answer of task.get_record. */
function taskScript(
  record: () => { readonly status?: string } | undefined,
  polls: FakeReply[],
  more: (call: FakeCall) => FakeReply | Promise<FakeReply> | undefined = () =>
    undefined,
) {
  return poolScript((call) => {
    const special = more(call);
    if (special !== undefined) return special;
    const { method } = call;
    if (method.startsWith("Async.")) return { value: TASK };
    if (method === "event.from") return polls.shift() ?? { silent: true };
    const now = record();
    if (method === "task.get_record")
      return now === undefined
        ? { error: ["HANDLE_INVALID", "task", TASK] }
        : { value: now };
    if (method === "task.get_status")
      return {
        value: now?.status ?? "pending",
      };
    if (method === "task.destroy" || method === "task.cancel")
      return { value: "" };
    return undefined;
  });
}

t.test(
  "the result is decoded and typed, progress is reported, the task is destroyed",
  async (t) => {
    const cases: [string, string, unknown][] = [
      ["VM.clone", "<value>OpaqueRef:abc</value>", "OpaqueRef:abc"],
      ["VM.start", "<value></value>", ""],
      [
        "VM.get_possible_hosts",
        "<value><array><data><value>OpaqueRef:1</value></data></array></value>",
        ["OpaqueRef:1"],
      ],
      ["host.compute_free_memory", "<value>123456</value>", 123_456],
      ["VM.assert_agile", "<value><boolean>1</boolean></value>", true],
      ["host.call_plugin", "<value>a &lt;b&gt; &amp; c</value>", "a <b> & c"],
    ];
    for (const [method, result, value] of cases) {
      let state: object = task("pending", { progress: 0.1 });
      const pool = await startPool(
        t,
        taskScript(
          () => state,
          [
            events("add", task("pending", { progress: 0.5 })),
            events("mod", done(result)),
          ],
          ({ method }) => {
            if (method === "task.get_status") state = done(result);
            return undefined;
          },
        ),
      );
      const xapi = clientOf(t, pool);
      await xapi.connect();
      const seen: number[] = [];
      t.same(
        await xapi.callAsync(method, ["OpaqueRef:vm"], {
          onProgress: (progress) => seen.push(progress),
        }),
        value,
        method,
      );
      t.equal(seen.at(-1), 1);
      t.ok(seen.includes(0.5));
      t.same(
        pool.calls.find(({ method: name }) => name === `Async.${method}`)
          ?.params,
        [SESSION, "OpaqueRef:vm"],
      );
      t.same(
        pool.calls.find(({ method }) => method === "event.from")?.params[1],
        [`task/${TASK}`],
      );
      await until(() => pool.methods.includes("task.destroy"));
    }
  },
);

t.test("a task that ended before it was watched", async (t) => {
  const pool = await startPool(
    t,
    taskScript(() => done("<value>x</value>"), []),
  );
  const xapi = clientOf(t, pool);
  await xapi.connect();
  t.equal(await xapi.callAsync("VM.clone", []), "x");
});

t.test(
  "a failed task rejects with XAPI's error; the wrapped error of a handler is unwrapped",
  async (t) => {
    const failures: [readonly string[], string, readonly string[]][] = [
      [
        ["VM_IS_TEMPLATE", "OpaqueRef:1", "start"],
        "VM_IS_TEMPLATE",
        ["OpaqueRef:1", "start"],
      ],
      [
        [
          "RBAC_PERMISSION_DENIED",
          "http/get_export",
          "UUID_INVALID: [ VM; 0000 ]",
        ],
        "UUID_INVALID",
        ["VM", "0000"],
      ],
      [
        ["RBAC_PERMISSION_DENIED", "vm.start", "No permission in user session"],
        "RBAC_PERMISSION_DENIED",
        ["vm.start", "No permission in user session"],
      ],
    ];
    for (const [errorInfo, code, params] of failures) {
      const pool = await startPool(
        t,
        taskScript(() => task("failure", { error_info: errorInfo }), []),
      );
      const xapi = clientOf(t, pool);
      await xapi.connect();
      await t.rejects(xapi.callAsync("VM.start", ["OpaqueRef:1"]), {
        code,
        params,
        method: "VM.start",
      });
    }
  },
);

t.test(
  "a running event stream is the source of task states: no second event.from is sent",
  async (t) => {
    let release: (() => void) | undefined;
    const pool = await startPool(
      t,
      taskScript(
        () => task("pending"),
        [],
        ({ method }) =>
          method === "event.from" && release === undefined
            ? new Promise<FakeReply>(
                (resolve) =>
                  (release = () =>
                    resolve(events("mod", done("<value>r</value>")))),
              )
            : undefined,
      ),
    );
    const xapi = clientOf(t, pool);
    await xapi.connect();
    const consumer = new AbortController();
    const stream = (async () => {
      for await (const item of xapi.events({
        from: TOKEN,
        signal: consumer.signal,
      }))
        t.equal(item.kind, "changes");
    })();
    await until(() => release !== undefined);
    const call = xapi.callAsync("VM.clone", []);
    await until(() => pool.methods.includes("Async.VM.clone"));
    t.equal(pool.methods.filter((method) => method === "event.from").length, 1);
    release!();
    t.equal(await call, "r");
    await until(() => pool.methods.includes("task.destroy"));
    t.same(
      pool.methods.filter((method) => method.startsWith("task.")),
      ["task.destroy"],
      "no task.get_record with an event source",
    );
    consumer.abort();
    await stream;
  },
);

t.test("a task that ends before its reference is known", async (t) => {
  let release: (() => void) | undefined;
  let answer: (() => void) | undefined;
  const pool = await startPool(
    t,
    taskScript(
      () => task("pending"),
      [],
      ({ method }) => {
        if (method === "Async.VM.clone")
          return new Promise<FakeReply>(
            (resolve) => (answer = () => resolve({ value: TASK })),
          );
        return method === "event.from" && release === undefined
          ? new Promise<FakeReply>(
              (resolve) =>
                (release = () =>
                  resolve(events("mod", done("<value>early</value>")))),
            )
          : undefined;
      },
    ),
  );
  const xapi = clientOf(t, pool);
  await xapi.connect();
  const consumer = new AbortController();
  const { signal } = consumer;
  const stream = xapi.events({ from: TOKEN, signal })[Symbol.asyncIterator]();
  const first = stream.next();
  await until(() => release !== undefined);
  const call = xapi.callAsync("VM.clone", []);
  await until(() => answer !== undefined);
  release!();
  await first;
  answer!();
  t.equal(await call, "early");
  consumer.abort();
  await stream.return?.();
});

t.test("when the event stream ends the tasks are polled", async (t) => {
  const polls: FakeReply[] = [];
  const pool = await startPool(
    t,
    taskScript(() => task("pending"), polls),
  );
  const xapi = clientOf(t, pool);
  await xapi.connect();
  const consumer = new AbortController();
  const stream = (async () => {
    for await (const item of xapi.events({
      from: TOKEN,
      signal: consumer.signal,
    }))
      t.equal(item.kind, "changes");
  })();
  await until(() => pool.methods.includes("event.from"));
  const call = xapi.callAsync("VM.clone", []);
  await until(() => pool.methods.includes("Async.VM.clone"));
  polls.push(events("mod", done("<value>late</value>")));
  consumer.abort();
  await stream;
  t.equal(await call, "late");
});

t.test(
  "a deleted task is detected by its event, and by reading the record without an event",
  async (t) => {
    const deleted = await startPool(
      t,
      taskScript(() => task("pending"), [events("del")]),
    );
    const first = clientOf(t, deleted);
    await first.connect();
    await t.rejects(first.callAsync("VM.clone", []), {
      code: "TASK_LOST",
      data: { method: "VM.clone" },
    });

    const clock = new FakeClock();
    let state: object | undefined = task("pending");
    const silent = await startPool(
      t,
      taskScript(() => state, []),
    );
    const second = clientOf(t, silent, { clock });
    await second.connect();
    const call = second.callAsync("VM.clone", []);
    await until(
      () =>
        silent.methods.includes("task.get_record") &&
        silent.methods.includes("event.from"),
    );
    state = undefined;
    const hurry = setInterval(() => clock.advance(5_000), 5);
    await t.rejects(call, { code: "TASK_LOST" });
    clearInterval(hurry);
  },
);

t.test(
  "a restarted toolstack: the tasks are read in the new session",
  async (t) => {
    let sessions = 0;
    const pool = await startPool(
      t,
      taskScript(
        () => (sessions > 1 ? undefined : task("pending")),
        [{ error: ["SESSION_INVALID", SESSION] }],
        ({ method }) =>
          method === "session.login_with_password"
            ? { value: `${SESSION}${++sessions}` }
            : undefined,
      ),
    );
    const xapi = clientOf(t, pool);
    await xapi.connect();
    await t.rejects(xapi.callAsync("VM.clone", []), { code: "TASK_LOST" });
    t.equal(sessions, 2);
  },
);

t.test(
  "aborting cancels the task, and the promise settles with its outcome",
  async (t) => {
    for (const [what, outcome, check] of [
      ["cancelled", task("cancelled"), { code: "ABORTED" }],
      ["done all the same", done("<value>made it</value>"), undefined],
    ] as const) {
      t.test(what, async (t) => {
        let state: object = task("pending");
        const polls: FakeReply[] = [];
        const pool = await startPool(
          t,
          taskScript(
            () => state,
            polls,
            ({ method, socket }) => {
              if (method !== "task.cancel") return undefined;
              state = outcome;
              // The blocked poll is closed and repeated: the answer has the current state of the task.
              polls.push(events("mod", outcome));
              for (const { method: name, socket: blocked } of pool.calls)
                if (name === "event.from" && blocked !== socket)
                  blocked.destroy();
              return undefined;
            },
          ),
        );
        const xapi = clientOf(t, pool);
        await xapi.connect();
        const caller = new AbortController();
        const call = xapi.callAsync("VM.clone", [], { signal: caller.signal });
        await until(() => pool.methods.includes("event.from"));
        caller.abort();
        if (check === undefined) t.equal(await call, "made it");
        else await t.rejects(call, check);
        t.same(
          pool.calls.find(({ method }) => method === "task.cancel")?.params,
          [SESSION, TASK],
        );
      });
    }
  },
);

t.test(
  "a task that cannot be cancelled rejects after cancelGraceMs and is not destroyed",
  async (t) => {
    const clock = new FakeClock();
    const pool = await startPool(
      t,
      taskScript(
        () => task("pending"),
        [],
        ({ method }) =>
          method === "task.cancel"
            ? { error: ["OPERATION_NOT_ALLOWED", "no"] }
            : undefined,
      ),
    );
    const xapi = clientOf(t, pool, { clock, cancelGraceMs: 2_000 });
    await xapi.connect();
    const caller = new AbortController();
    const call = xapi.callAsync("VM.clone", [], { signal: caller.signal });
    await until(() => pool.methods.includes("event.from"));
    caller.abort();
    await until(() => clock.pending.includes(2_000));
    clock.advance(2_000);
    await t.rejects(call, { code: "ABORTED" });
    await until(() => pool.methods.includes("task.get_status"));
    t.notOk(pool.methods.includes("task.destroy"));
  },
);

t.test("disconnecting rejects waiting calls", async (t) => {
  const pool = await startPool(
    t,
    taskScript(() => task("pending"), []),
  );
  const xapi = clientOf(t, pool);
  await xapi.connect();
  const call = xapi.callAsync("VM.clone", []);
  const outcome = t.rejects(call, { code: "CLOSED" });
  await until(() => pool.methods.includes("event.from"));
  await xapi.disconnect();
  await outcome;
});

t.test(
  "a method without an Async form rejects with XAPI's error",
  async (t) => {
    const pool = await startPool(
      t,
      poolScript(({ method }) =>
        method === "Async.VM.get_all"
          ? { error: ["Fault", "No async mode"] }
          : undefined,
      ),
    );
    const xapi = clientOf(t, pool);
    await xapi.connect();
    await t.rejects(xapi.callAsync("VM.get_all"), { code: "Fault" });
  },
);

t.test(
  "a call reports its task, which is destroyed only after keepUntil",
  async (t) => {
    const pool = await startPool(
      t,
      taskScript(() => done("<value>x</value>"), []),
    );
    const xapi = clientOf(t, pool);
    await xapi.connect();
    let forget = () => undefined as void;
    const keepUntil = new Promise<void>((resolve) => (forget = resolve));
    const tasks: string[] = [];
    const onTask = (ref: string) => tasks.push(ref);
    t.equal(await xapi.callAsync("VM.clone", [], { onTask, keepUntil }), "x");
    t.same(tasks, [TASK]);
    // A later call has been answered: an earlier call would have arrived.
    await xapi.call("task.get_record", [TASK]);
    t.notOk(pool.methods.includes("task.get_status"));
    forget();
    await until(() => pool.methods.includes("task.destroy"));
  },
);
