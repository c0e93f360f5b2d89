import { setTimeout as pause } from "node:timers/promises";
import t from "tap";
import { Database } from "../src/database.js";
import { createRandom } from "../src/random.js";
import { Sessions } from "../src/sessions.js";
import { TestClient } from "./support/raw-client.js";
import { HOST, tinyPool, VM } from "./support/tiny-pool.js";

t.test("login takes two to five parameters", async (t) => {
  const { client } = await tinyPool(t);
  for (const params of [
    ["root", "password"],
    ["root", "password", "1.0", "me", "ignored"],
  ])
    t.match(
      await client.send("session.login_with_password", params),
      /^OpaqueRef:/,
    );
  await t.rejects(client.send("session.login_with_password", ["root"]), {
    message: "MESSAGE_PARAMETER_COUNT_MISMATCH session.login_with_password 2 1",
  });
});

t.test(
  "a wrong password and an unknown user get the same answer",
  async (t) => {
    const { pool } = await tinyPool(t);
    for (const [user, password] of [
      ["root", "wrong"],
      ["nobody", "password"],
    ] as const)
      await t.rejects(new TestClient(pool.url).logIn(user, password), {
        message: `SESSION_AUTHENTICATION_FAILED ${user} Authentication failure`,
      });
  },
);

t.test("after logout the session is invalid", async (t) => {
  const { client } = await tinyPool(t);
  const { session } = client;
  t.equal(await client.call("session.logout"), "");
  for (const method of ["session.logout", "VM.get_all"])
    await t.rejects(client.call(method), {
      message: `SESSION_INVALID ${session}`,
    });
});

t.test(
  "tasks of a session continue after its end, and a request that arrives later starts none",
  async (t) => {
    const { pool, client } = await tinyPool(t);
    const other = new TestClient(pool.url);
    await other.logIn();
    const { session } = other;
    const task = await other.call("Async.VM.snapshot", VM, "s", []);
    await client.call("task.create", "of another session", "");
    t.same(await client.call("session.get_tasks", session), [task]);
    await other.call("session.logout");
    await t.rejects(other.call("Async.VM.snapshot", VM, "s2", []), {
      message: `SESSION_INVALID ${session}`,
    });
    await t.rejects(client.call("session.get_tasks", session), {
      message: `HANDLE_INVALID session ${session}`,
    });
    while ((await client.call("task.get_status", task)) === "pending")
      await pause(10);
    t.equal(await client.call("task.get_status", task), "success");
    t.same(await client.call("VM.get_by_name_label", "s2"), []);
  },
);

t.test("a changed password is valid immediately", async (t) => {
  const { pool, client } = await tinyPool(t);
  await client.call("session.change_password", "password", "new");
  await t.rejects(new TestClient(pool.url).logIn());
  await new TestClient(pool.url).logIn("root", "new");
  // The local superuser need not know the old one.
  await client.call("session.change_password", "wrong", "newer");
  await new TestClient(pool.url).logIn("root", "newer");
});

t.test("messages of an unknown object cannot be listed", async (t) => {
  const { client } = await tinyPool(t);
  const since = "19700101T00:00:00Z";
  t.same(await client.call("message.get", "VM", "uuid-vm-1", since), {});
  await t.rejects(client.call("message.get", "VM", "none", since), {
    message: "UUID_INVALID",
  });
});

t.test("a local session is good for emergency calls only", async (t) => {
  const { client } = await tinyPool(t);
  const local = await client.send("session.slave_local_login_with_password", [
    "root",
    "password",
  ]);
  await t.rejects(client.send("VM.get_all", [local]), {
    message: `SESSION_INVALID ${String(local)}`,
  });
  t.equal(await client.send("session.local_logout", [local]), "");
});

t.test(
  "calls are checked in order: number of parameters, types, session",
  async (t) => {
    const { client } = await tinyPool(t);
    const refused = (method: string, params: unknown[], message: string) =>
      t.rejects(client.send(method, params), { message });
    await refused(
      "VM.get_all",
      [],
      "MESSAGE_PARAMETER_COUNT_MISMATCH VM.get_all 0 -1",
    );
    await refused(
      "VM.get_all",
      ["bad", "more"],
      "MESSAGE_PARAMETER_COUNT_MISMATCH VM.get_all 0 1",
    );
    await refused(
      "VM.set_order",
      ["bad", "vm", 3.5],
      `INTERNAL_ERROR Failure("Expected int64, got 'F(3.5)'")`,
    );
    await refused("VM.set_order", ["bad", "vm", 3], "SESSION_INVALID bad");
    await refused("VM.nonsense", ["bad"], "SESSION_INVALID bad");
    await refused("VM.nonsense", [], "MESSAGE_METHOD_UNKNOWN VM.nonsense");
    await refused(
      "Async.VM.get_all",
      ["bad"],
      "Fault No async mode for this operation (rpc: VM.get_all)",
    );
  },
);

function sessionsAt(clock: { time: number }): Sessions {
  const db = new Database(createRandom(1));
  return new Sessions(db, {
    now: () => clock.time,
    setTimeout: () => undefined,
    clearTimeout: () => undefined,
  });
}

t.test(
  "a session that is idle for a day ends, one in use does not",
  async (t) => {
    const clock = { time: 0 };
    const sessions = sessionsAt(clock);
    const [idle, used] = ["a", "b"].map((name) =>
      sessions.create("root", name, HOST),
    );
    for (let hour = 1; hour <= 25; hour++) {
      clock.time = hour * 3600_000;
      sessions.use(used!.ref);
    }
    t.throws(() => sessions.use(idle!.ref), { code: "SESSION_INVALID" });
  },
);

t.test(
  "an originator has at most 500 sessions, clients without one 400: the oldest idle session ends",
  async (t) => {
    const clock = { time: 0 };
    const sessions = sessionsAt(clock);
    const fill = (originator: string, count: number): string => {
      const first = sessions.create("root", originator, HOST);
      for (let i = 1; i < count; i++) {
        clock.time++;
        sessions.create("root", originator, HOST);
      }
      return first.ref;
    };
    const mine = fill("mine", 500);
    t.ok(sessions.isAlive(mine));
    const nobody = fill("", 400);
    t.ok(sessions.isAlive(nobody));
    sessions.create("root", "", HOST);
    t.notOk(sessions.isAlive(nobody));
    sessions.create("root", "mine", HOST);
    t.notOk(sessions.isAlive(mine));
  },
);
