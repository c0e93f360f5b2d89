import t, { type Test } from "tap";
import { startControlled } from "./controlled-pools.js";

interface Task {
  readonly status: string;
  readonly result?: { readonly code?: string; readonly message?: string };
}

const REBOOT = "Async.VM.hard_reboot";

/** A server with a pool whose answers get lost. */
async function setUp(t: Test) {
  const server = await startControlled(t, { hosts: 3, vms: 30, seed: 5 });
  const { api } = server;
  const pool = server.pools[0]!;
  const vms = await api.all({ type: "VM", power_state: "Running" });
  return {
    pool,
    vms,
    reboot: async ({ id }: { readonly id: string }): Promise<Task> => {
      const path = `/vms/${id}/actions/hard_reboot`;
      const begun = await api.rest("POST", path, {});
      const { taskId } = (await begun.json()) as { taskId: string };
      const ended = await api.rest("GET", `/tasks/${taskId}?wait=true`);
      return (await ended.json()) as Task;
    },
    /** Number of times that the pool has received each call. */
    received: (): readonly number[] => {
      const times = new Map<string, number>();
      for (const { method, object } of pool.calls())
        if (method === "VM.hard_reboot")
          times.set(object, (times.get(object) ?? 0) + 1);
      return [...times.values()];
    },
  };
}

for (const [fault, what] of [
  ["hang", "never comes, on a connection that stays open"],
  ["drop", "is lost with its connection"],
] as const)
  t.test(
    `an action whose answer ${what} ends with its XAPI task`,
    async (t) => {
      const { pool, vms, reboot, received } = await setUp(t);
      pool.faults.set(fault, { value: true, method: REBOOT, times: 1 });
      t.match(await reboot(vms[0]!), { status: "success" });
      t.notOk(pool.faults.isOn(fault), "it was lost");
      t.same(received(), [1], "nothing was sent twice");
    },
  );

t.test("an action whose answer is lost fails as its XAPI task", async (t) => {
  const { pool, vms, reboot, received } = await setUp(t);
  pool.faults.set("hang", { value: true, method: REBOOT, times: 1 });
  const params = ["", "the SR is gone", ""];
  pool.failNext("VM.hard_reboot", "SR_BACKEND_FAILURE_47", params);
  t.match(await reboot(vms[0]!), {
    status: "failure",
    result: { code: "SR_BACKEND_FAILURE_47" },
  });
  t.same(received(), [1]);
});

t.test("lost answers do not keep later calls waiting", async (t) => {
  const { pool, vms, reboot, received } = await setUp(t);
  // More than calls at a time.
  const some = vms.slice(0, 10);
  pool.faults.set("hang", { value: true, method: REBOOT, times: 9 });
  const tasks = await Promise.all(some.map(reboot));
  t.same(new Set(tasks.map(({ status }) => status)), new Set(["success"]));
  t.same(
    received(),
    some.map(() => 1),
  );
});

t.test(
  "a network that was created before the response was lost is returned, and exists once",
  async (t) => {
    const server = await startControlled(t, { hosts: 2, vms: 4, seed: 5 });
    const { api } = server;
    const pool = server.pools[0]!;
    const { id } = (await api.all({ type: "pool" }))[0]!;
    pool.faults.set("drop", {
      value: true,
      method: "network.create",
      times: 1,
    });
    const params = { pool: id, name: "answer lost" };
    const created = await api.request("network.create", params);
    t.notOk(pool.faults.isOn("drop"), "it was lost");
    const networks = [...pool.database.records("network")].filter(
      ([, { name_label: name }]) => name === params.name,
    );
    t.same(
      networks.map(([, { uuid }]) => uuid),
      [created],
    );
  },
);

t.test(
  "what only reads, or sets the same again, is sent again if the answer is lost",
  async (t) => {
    const server = await startControlled(t, { hosts: 2, vms: 4, seed: 5 });
    const { api } = server;
    const pool = server.pools[0]!;
    const { id } = (await api.all({ type: "host" }))[0]!;
    for (const [operation, params, method] of [
      ["host.isHyperThreadingEnabled", { id }, "host.call_plugin"],
      [
        "host.setRemoteSyslogHost",
        { id, syslogDestination: "192.0.2.9" },
        "host.syslog_reconfigure",
      ],
      [
        "host.setPowerOnMode",
        { id, powerOnMode: "wake-on-lan" },
        "host.set_power_on_mode",
      ],
    ] as const) {
      pool.faults.set("drop", { value: true, method, times: 1 });
      t.type(await api.request(operation, params), "boolean", operation);
      t.notOk(pool.faults.isOn("drop"), "it was lost");
    }
  },
);

t.test(
  "a migration is sent once if the answer to its preparation is lost",
  async (t) => {
    const server = await startControlled(t, { hosts: 3, vms: 8, seed: 5 });
    const { api } = server;
    const pool = server.pools[0]!;
    const [vm] = await api.all({ type: "VM", power_state: "Running" });
    const hosts = await api.all({ type: "host" });
    const target = hosts.find(({ id }) => id !== vm!["$container"])!;
    const shared = { type: "SR", shared: true, content_type: "user" };
    const [sr] = await api.all(shared);
    const method = "host.migrate_receive";
    pool.faults.set("drop", { value: true, method, times: 1 });
    const migration = { vm: vm!.id, targetHost: target.id, sr: sr!.id };
    t.ok(await api.request("vm.migrate", migration));
    t.notOk(pool.faults.isOn("drop"), "it was lost");
    const sent = pool.calls().map(({ method: called }) => called);
    t.equal(sent.filter((called) => called === "VM.migrate_send").length, 1);
  },
);
