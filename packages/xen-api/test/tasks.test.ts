import t from "tap";
import { clientOf, startPool } from "./client.js";
import { FakeClock, until } from "./fake-clock.js";
import { poolScript, SESSION, type FakeReply } from "./fake-xapi.js";
import { task, taskScript, TASK, events, done } from "./task-script.js";

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
