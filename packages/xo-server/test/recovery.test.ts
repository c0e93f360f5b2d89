import { XapiError, XoError } from "@xo-server/model";
import t from "tap";
import { setUp, settle, oneCall, VM, ada } from "./recovered-tasks.js";

t.test(
  "the single call of an operation is found again, and completes its task",
  async (t) => {
    const { open, begin, restart, pool, audit, stepStore } = setUp(t, oneCall);
    const id = await begin(open(), (xapi) =>
      xapi().callAsync("VM.start", [VM]),
    );
    const { tasks, done } = await restart();
    t.match(await tasks.get(id, ada), {
      status: "pending",
      tasks: [{ status: "pending", properties: { name: "XAPI: VM.start" } }],
    });
    await pool.end("OpaqueRef:1");
    await done;
    const task = await tasks.get(id, ada);
    t.match(task, {
      id,
      status: "success",
      tasks: [{ status: "success" }],
    });
    t.equal(task?.tasks?.length, 1);
    t.same(pool.asked, ["VM.start"], "it is asked once");
    t.same(audit, ["success"]);
    await settle();
    t.equal(stepStore.rows.size, 0);
  },
);

t.test(
  "a preparation that has succeeded does not complete an operation that is a single call",
  async (t) => {
    const { open, begin, restart, pool } = setUp(t, {
      ...oneCall,
      callMethods: ["VM.migrate_send"],
    });
    const id = await begin(open(), (xapi) =>
      xapi().callAsync("VDI.disable_cbt", [VM]),
    );
    const { tasks, done } = await restart();
    await pool.end("OpaqueRef:1");
    await done;
    t.match(await tasks.get(id, ada), {
      status: "interrupted",
      result: { message: /finished by the pool since: VDI.disable_cbt/ },
    });
  },
);

t.test(
  "the outcome of a XAPI task that was found again is stored before the pool deletes that task",
  async (t) => {
    const { open, begin, restart, pool, stepStore } = setUp(t, oneCall);
    const id = await begin(open(), (xapi) =>
      xapi().callAsync("VM.start", [VM]),
    );
    const { tasks, done } = await restart();
    const stored: unknown[] = [];
    pool.onDestroy = () => {
      for (const { body } of stepStore.rows.values()) stored.push(body);
    };
    await pool.end("OpaqueRef:1");
    await done;
    t.match(stored, [
      { ref: "OpaqueRef:1", method: "VM.start", ended: { status: "success" } },
    ]);
    t.match(await tasks.get(id, ada), { status: "success" });
    await settle();
    t.equal(stepStore.rows.size, 0);
  },
);

t.test(
  "a task whose end could not be stored is not reported as not begun",
  async (t) => {
    const { open, begin, restart, ...rest } = setUp(t, oneCall);
    const { pool, store, stepStore, clock } = rest;
    const id = await begin(open(), (xapi) =>
      xapi().callAsync("VM.start", [VM]),
    );
    // Or it is refused: another server has adopted the task.
    store.isGone = true;
    await pool.end("OpaqueRef:1");
    for (let i = 0; i < 10; i++) {
      clock.pass(100);
      await settle();
    }
    t.not(stepStore.rows.size, 0, "the next server finds what was done");
    store.isGone = false;
    const { tasks, done } = await restart();
    await done;
    t.match(await tasks.get(id, ada), { status: "success" });
    t.same(pool.asked, ["VM.start"], "it is asked once");
    await settle();
    t.equal(stepStore.rows.size, 0);
  },
);

t.test(
  "that a call has not begun is known only when its session has ended",
  async (t) => {
    const { open, begin, restart, pool, stepStore } = setUp(t, oneCall);
    pool.isMute = true;
    const id = await begin(open(), (xapi) =>
      xapi().callAsync("VM.start", [VM]),
    );
    const [step] = stepStore.rows.values();
    t.match(step?.body, { session: "steps of tasks: OpaqueRef:session" });
    const { call } = step!.body as { call: string };
    // Its request arrives after the first search.
    pool.onEndSession = () => {
      const other_config = { "xo-call": call };
      pool.records = { "OpaqueRef:late": { other_config } };
    };
    const { tasks, done } = await restart();
    await pool.end("OpaqueRef:late");
    await done;
    t.same(pool.endedSessions, ["OpaqueRef:session"]);
    t.match(await tasks.get(id, ada), { status: "success" });
  },
);

t.test(
  "a session that cannot be ended leaves unknown whether a call will begin",
  async (t) => {
    const { open, begin, restart, pool, clock } = setUp(t, oneCall);
    pool.isMute = true;
    const id = await begin(open(), (xapi) =>
      xapi().callAsync("VM.start", [VM]),
    );
    pool.onEndSession = () => {
      throw new XapiError("RBAC_PERMISSION_DENIED", ["session.logout"]);
    };
    const { tasks, done } = await restart();
    for (let i = 0; i < 40; i++) {
      clock.pass(60_000);
      for (let turn = 0; turn < 5; turn++) await settle();
    }
    await done;
    t.ok(pool.endedSessions.length > 1, "it is tried again");
    t.match(await tasks.get(id, ada), {
      status: "interrupted",
      result: { message: /outcome not known.*its request may still arrive/ },
    });
  },
);

t.test(
  "a call whose session was replaced before it was sent is recorded again",
  async (t) => {
    const { open, begin, pool, stepStore } = setUp(t, oneCall);
    const used = ["OpaqueRef:first", "OpaqueRef:second"];
    pool.onSend = () => used.shift()!;
    pool.session = "OpaqueRef:second";
    await begin(open(), (xapi) => xapi().callAsync("VM.start", [VM]));
    t.same(used, []);
    t.same(pool.asked, ["VM.start"], "the first was not sent");
    const [step] = stepStore.rows.values();
    t.match(step?.body, { session: "steps of tasks: OpaqueRef:second" });
  },
);

t.test(
  "what a task did is read again if the database fails, and not guessed",
  async (t) => {
    for (const isBack of [true, false]) {
      const { open, begin, restart, ...rest } = setUp(t, oneCall);
      const { pool, stepStore, clock } = rest;
      const id = await begin(open(), (xapi) =>
        xapi().callAsync("VM.start", [VM]),
      );
      stepStore.isUnreadable = true;
      const { tasks, done } = await restart();
      for (let i = 0; i < 10; i++) await settle();
      stepStore.isUnreadable = !isBack;
      for (let i = 0; i < 65; i++) {
        clock.pass(1_000);
        await settle();
      }
      if (isBack) await pool.end("OpaqueRef:1");
      await done;
      t.match(
        await tasks.get(id, ada),
        isBack
          ? { status: "success" }
          : {
              status: "interrupted",
              result: { message: /its steps could not be read/ },
            },
      );
      t.same(pool.asked, ["VM.start"]);
    }
  },
);

t.test(
  "a refusal of the pool in the meantime is the task's failure",
  async (t) => {
    const { open, begin, restart, pool } = setUp(t, oneCall);
    const id = await begin(open(), (xapi) =>
      xapi().callAsync("VM.start", [VM]),
    );
    const { tasks, done } = await restart();
    await pool.end("OpaqueRef:1", new XapiError("SR_FULL", ["1", "2"]));
    await done;
    t.match(await tasks.get(id, ada), {
      status: "failure",
      result: { code: "SR_FULL" },
    });
  },
);

t.test(
  "an error of several calls lists completed and unstarted ones",
  async (t) => {
    const { open, begin, restart, pool } = setUp(t);
    const id = await begin(open(), async (xapi) => {
      await xapi().callAsync("VM.clone", [VM]);
      await xapi().callAsync("VM.provision", [VM]);
      await xapi().callAsync("VM.start", [VM]);
    });
    await pool.end("OpaqueRef:1");
    for (let i = 0; i < 10; i++) await settle();
    const { tasks, done } = await restart();
    await pool.end("OpaqueRef:2");
    await done;
    t.match(await tasks.get(id, ada), {
      status: "interrupted",
      result: {
        code: "INTERRUPTED",
        message:
          /done before: VM.clone; finished by the pool since: VM.provision; no further call was started/,
      },
    });
    t.same(pool.asked, ["VM.clone", "VM.provision"]);
  },
);

t.test(
  "the outcome of a task that the pool no longer knows is not guessed",
  async (t) => {
    const { open, begin, restart, pool } = setUp(t, oneCall);
    const id = await begin(open(), (xapi) =>
      xapi().callAsync("VM.start", [VM]),
    );
    const { tasks, done } = await restart();
    await pool.end(
      "OpaqueRef:1",
      new XoError("TASK_LOST", { method: "VM.start", reason: "" }),
    );
    await done;
    t.match(await tasks.get(id, ada), {
      status: "interrupted",
      result: {
        message: /outcome not known: VM.start .*its VM is Running now/,
      },
    });
  },
);

t.test(
  "a call whose task was never reported is looked for in the pool",
  async (t) => {
    const record = (status: string, more: object = {}) => ({
      name_label: "Async.VM.start",
      created: "20261121T06:00:00Z",
      status,
      ...more,
    });
    const crash = async () => {
      const all = setUp(t, oneCall);
      all.pool.isMute = true;
      const id = await all.begin(all.open(), (xapi) =>
        xapi().callAsync("VM.start", [VM]),
      );
      return { ...all, id };
    };

    t.test("by properties of the object", async (t) => {
      const { pool, restart, id } = await crash();
      pool.records = { a: record("pending"), b: record("pending") };
      pool.operations = { b: "start" };
      const { tasks, done } = await restart();
      await pool.end("b");
      await done;
      t.match(await tasks.get(id, ada), { status: "success" });
    });

    t.test(
      "no XAPI task of that time: the pool received no request",
      async (t) => {
        const { pool, restart, id } = await crash();
        pool.records = {
          old: record("success", { created: "20261120T06:00:00Z" }),
          other: record("success", { name_label: "Async.VM.clone" }),
        };
        const { tasks, done } = await restart();
        await done;
        t.match(await tasks.get(id, ada), {
          status: "interrupted",
          result: { message: /not started: VM.start/ },
        });
      },
    );

    t.test("ambiguous names are reported", async (t) => {
      const { pool, restart, id } = await crash();
      pool.records = { a: record("pending"), b: record("failure") };
      pool.powerState = "Halted";
      const { tasks, done } = await restart();
      await done;
      t.match(await tasks.get(id, ada), {
        status: "interrupted",
        result: { message: /has 2 tasks of VM.start.*Halted/ },
      });
    });

    t.test(
      "one has succeeded, and the VM is in the expected state",
      async (t) => {
        const { pool, restart, id } = await crash();
        pool.records = { a: record("success"), b: record("failure") };
        const { tasks, done } = await restart();
        await done;
        t.match(await tasks.get(id, ada), { status: "success" });
      },
    );
  },
);

t.test("tasks of another server are left unchanged", async (t) => {
  const { open, begin, restart, store } = setUp(t);
  const id = await begin(open("there"), (xapi) =>
    xapi().callAsync("VM.start", [VM]),
  );
  const { interrupted } = await restart("here");
  t.same(interrupted, []);
  t.match(store.rows.get(id), { status: "pending" });
});

t.test(
  "a task that is not resumed waits for its XAPI tasks, also if it leaves nothing",
  async (t) => {
    const { open, begin, restart, pool, setPerson } = setUp(t, {
      resume: () => t.fail("resumed"),
    });
    const id = await begin(open(), async (xapi, work) => {
      await work.persistState({});
      await xapi().callAsync("host.evacuate", []);
    });
    setPerson(undefined);
    const { tasks, done } = await restart();
    for (let i = 0; i < 10; i++) await settle();
    t.match(await tasks.get(id, ada), { status: "pending" });
    await pool.end("OpaqueRef:1");
    await done;
    t.match(await tasks.get(id, ada), {
      status: "failure",
      result: { code: "FORBIDDEN_OPERATION" },
    });
  },
);
