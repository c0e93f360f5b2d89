import { XoError } from "@xo-server/model";
import type { AuditEntry, PendingChange, Store } from "@xo-server/store";
import t from "tap";
import { Type } from "typebox";
import { createAudit } from "../src/operations/audit.js";
import { defineOperation } from "../src/operations/operation.js";
import { Rights } from "../src/rights/rights.js";
import type { HeldLease } from "../src/cluster/held-lease.js";
import { untrackedTask } from "../src/tasks/task-context.js";
import { FakeClient } from "./fake-client.js";
import { createTestDispatcher } from "./test-dispatcher.js";

const operations = [
  defineOperation({
    name: "vm.change",
    summary: "Changes.",
    params: Type.Object({
      id: Type.String(),
      config: Type.Optional(Type.Unknown()),
      cloudConfig: Type.Optional(Type.String()),
    }),
    result: Type.Unknown(),
    permission: "guest",
    changes: true,
    handler: () => ({ taskId: "t1" }),
  }),
  defineOperation({
    name: "vm.changeLater",
    summary: "Starts a task of its own, and waits for it.",
    params: Type.Object({}),
    result: Type.String(),
    permission: "guest",
    changes: true,
    handler: async (_params, { startedTask }) => {
      await startedTask.note("t2");
      return "done";
    },
  }),
  defineOperation({
    name: "vm.hang",
    summary: "Does not end.",
    params: Type.Object({ id: Type.String() }),
    result: Type.String(),
    permission: "guest",
    changes: true,
    handler: () => new Promise<string>(() => undefined),
  }),
  defineOperation({
    name: "vm.read",
    summary: "Reads.",
    params: Type.Object({ id: Type.String() }),
    result: Type.String(),
    permission: "guest",
    handler: ({ id }) => id,
  }),
];
const context = {
  permission: "guest",
  client: new FakeClient(),
  address: "192.0.2.7",
} as const;

function setUp(
  end: (entry: AuditEntry) => Promise<unknown>,
  begin: (owner: string, change: PendingChange) => Promise<string> = async () =>
    "begun",
) {
  const ids: (string | undefined)[] = [];
  const interrupted: string[][] = [];
  const updates: (string | undefined)[][] = [];
  const listeners = new Set<() => void>();
  const store = {
    state: "available" as Store["state"],
    onState: (listener: () => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    auditChanges: {
      begin,
      interrupt: async (id: string, change: PendingChange) =>
        interrupted.push([id, change.operation]),
      update: async (id: string, change: PendingChange) => {
        updates.push([id, change.taskId]);
      },
      end(id: string | undefined, entry: AuditEntry) {
        ids.push(id);
        return end(entry);
      },
    },
  };
  const lines: unknown[] = [];
  const log = (...line: unknown[]) => lines.push(line);
  const logger = { debug: log, info: log, warn: log, error: log };
  const audit = createAudit(store as unknown as Store, "owner");
  const dispatcher = createTestDispatcher(operations, { logger, audit });
  const call = (name: string, params: object, more: object = {}) =>
    dispatcher.call(name, params, { ...context, ...more });
  const enter = (state: Store["state"]) => {
    store.state = state;
    for (const listener of listeners) listener();
  };
  return { store, ids, updates, interrupted, call, enter };
}

t.test("changes are written with object and task", async (t) => {
  const entries: AuditEntry[] = [];
  const { call } = setUp(async (entry) => entries.push(entry));
  const config = { user: "ada", password: "pw", deep: { token: "to" } };
  await call("vm.change", { vm: "x", config, cloudConfig: "password: pw" });
  await call("vm.read", { id: "x" });
  t.same(entries, [
    {
      address: "192.0.2.7",
      operation: "vm.change",
      objectId: "x",
      parameters: {
        id: "x",
        config: {
          user: "ada",
          password: "[redacted]",
          deep: { token: "[redacted]" },
        },
        cloudConfig: "[redacted]",
      },
      outcome: "success",
      taskId: "t1",
    },
  ]);
});

t.test(
  "the task that a call starts is written before its end, in case that the server ends",
  async (t) => {
    const entries: AuditEntry[] = [];
    const { call, updates } = setUp(async (entry) => {
      t.same(updates, [["begun", "t2"]], "before");
      entries.push(entry);
    });
    await call("vm.changeLater", {});
    t.match(entries, [{ operation: "vm.changeLater", taskId: "t2" }]);
  },
);

t.test(
  "a call that does not settle, because its task was taken over, has an entry",
  async (t) => {
    const { call, interrupted } = setUp(async () => undefined);
    const lost = new AbortController();
    const lease = { signal: lost.signal } as HeldLease;
    const task = { ...untrackedTask, taskId: "t0", lease };
    void call("vm.hang", { id: "x" }, { task });
    await call("vm.change", { id: "x" }, { task });
    t.same(interrupted, []);
    lost.abort();
    t.same(interrupted, [["begun", "vm.hang"]]);
  },
);

t.test("secrets are redacted wherever they are", async (t) => {
  const entries: AuditEntry[] = [];
  const { call } = setUp(async (entry) => entries.push(entry));
  const config = {
    s3_access_key: "canary",
    options: "vers=3,password=canary,ro",
    PV_args: "console=hvc0 pass=canary",
    proxy: "http://user:canary@proxy.example",
    calls: [{ template: "password: canary", cloudConfig: "canary" }],
    // Of vm.createCloudInitConfigDrive.
    config: "#cloud-config\npassword: canary\n",
    device_config: { chappassword: "canary", pass: "canary" },
  };
  await call("vm.change", { id: "x", config });
  t.notMatch(JSON.stringify(entries), "canary");
  t.match(entries[0]?.parameters, { config: { options: /^vers=3,.*,ro$/ } });
});

t.test(
  "one of the calls of a task waits until the store is available",
  async (t) => {
    const entries: AuditEntry[] = [];
    let begins = 0;
    const { call, enter } = setUp(
      async (entry) => entries.push(entry),
      async () => {
        if (++begins > 1) return "begun";
        enter("unavailable");
        throw new XoError("STORE_UNAVAILABLE", { reason: "test" });
      },
    );
    const waiting = call("vm.change", { id: "x" }, { waitsForStore: true });
    await new Promise(setImmediate);
    t.same(entries, [], "nothing was done");
    enter("available");
    await waiting;
    t.match(entries, [{ objectId: "x", outcome: "success" }]);
    t.equal(begins, 2);

    const ending = new AbortController();
    enter("unavailable");
    const task = { ...untrackedTask, signal: ending.signal };
    const aborted = call(
      "vm.change",
      { id: "x" },
      { task, waitsForStore: true },
    );
    ending.abort();
    await t.rejects(aborted, { code: "ABORTED" });
    t.equal(entries.length, 1);
  },
);

t.test("without a store nothing can be changed, reading works", async (t) => {
  const { store, call } = setUp(async () => undefined);
  store.state = "unavailable";
  await t.rejects(call("vm.change", { id: "x" }), {
    code: "STORE_UNAVAILABLE",
  });
  t.equal(await call("vm.read", { id: "x" }), "x");
});

t.test("a change begins only if that is recorded", async (t) => {
  const entries: AuditEntry[] = [];
  const gone = new XoError("STORE_UNAVAILABLE", { reason: "gone" });
  const refused = setUp(
    async (entry) => entries.push(entry),
    () => Promise.reject(gone),
  );
  await t.rejects(refused.call("vm.change", { id: "x" }), gone);
  t.same(entries, []);
  const { ids, call } = setUp(async (entry) => entries.push(entry));
  await call("vm.change", { id: "x" });
  t.same(ids, ["begun"], "the entry replaces what was recorded");
});

t.test(
  "the task of a change is recorded when it begins, so that it is known if the server ends",
  async (t) => {
    const begun: unknown[] = [];
    const { call } = setUp(
      async () => undefined,
      async (_owner, change) => String(begun.push(change)),
    );
    const task = { ...untrackedTask, taskId: "t0" };
    await call("vm.change", { id: "x" }, { task });
    t.match(begun, [{ operation: "vm.change", objectId: "x", taskId: "t0" }]);
  },
);

t.test("parameters that are left out are not read to the end", async (t) => {
  const entries: AuditEntry[] = [];
  const { call } = setUp(async (entry) => entries.push(entry));
  let read = 0;
  const config = Array.from({ length: 100_000 }, () => ({
    get text() {
      read++;
      return "0123456789";
    },
  }));
  await call("vm.change", { id: "v", config });
  t.match(entries, [{ parameters: { leftOut: /16384 bytes/ } }]);
  t.ok(read < 20_000, `${read} values`);
  await call("vm.change", { id: "v", cloudConfig: "x".repeat(20_000) });
  t.match(entries[1], {
    parameters: { id: "v", cloudConfig: "[redacted]" },
  });
});

t.test("one user does not fill the queue of the database", async (t) => {
  const waiting: (() => void)[] = [];
  const { call } = setUp(
    async () => undefined,
    () => new Promise((resolve) => waiting.push(() => resolve("begun"))),
  );
  const userOf = (id: string) => ({
    user: { id, name: id, isAdmin: false, groups: [], rights: Rights.none },
  });
  const change = (id: string, more: object = {}) =>
    call("vm.change", { id: "x" }, { ...userOf(id), ...more });
  const first = Array.from({ length: 500 }, () => change("ada"));
  await t.rejects(change("ada"), {
    code: "TOO_MANY_REQUESTS",
    data: { reason: "500 changes of this user wait for the database" },
  });
  const others = [change("bob"), change("ada", { waitsForStore: true })];
  t.equal(waiting.length, 502);
  for (const begin of waiting.splice(0)) begin();
  await Promise.all([...first, ...others]);
  const next = change("ada");
  waiting[0]!();
  await t.resolves(next);
});
