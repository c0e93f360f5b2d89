import t from "tap";
import { clientOf, startPool } from "./client.js";
import { FakeClock, until } from "./fake-clock.js";
import { SESSION, TOKEN, type FakeReply } from "./fake-xapi.js";
import { task, taskScript, TASK, events, done } from "./task-script.js";

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
