import t from "tap";
import { startStorageBench, type Row } from "./storage-bench.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");

const SIZE = ["--hosts", "3", "--vms", "4", "--seed", "3", "--pace", "0.1"];

t.test("a host is emptied and filled again", LIMIT, async (t) => {
  const bench = await startStorageBench(t, ...SIZE);
  const { admin, list } = bench;
  const running = await list("vms", "power_state:Running");
  const places = async () =>
    Object.fromEntries(
      (await list("vms", "power_state:Running")).map((vm) => [
        vm.id,
        vm["$container"],
      ]),
    );
  const before = await places();
  const id = String(running[0]!["$container"]);
  const guests = running.filter((vm) => vm["$container"] === id);
  const now = async () =>
    (await admin.rest("GET", `/hosts/${id}`)).body as unknown as Row;

  t.test("unless a VM cannot be evacuated: then nothing is done", async (t) => {
    const [vm] = guests;
    await admin.request("vm.set", {
      id: vm!.id,
      blockedOperations: { pool_migrate: "mine" },
    });
    const stuck = {
      error: {
        data: {
          code: "VMS_CANNOT_LEAVE",
          vms: [{ id: vm!.id, host: id, code: "OPERATION_BLOCKED" }],
        },
      },
    };
    t.match(
      await admin.request("host.listVmsPreventingEvacuation", { id }),
      [{ id: vm!.id, name: vm!["name_label"], code: "OPERATION_BLOCKED" }],
      "the list that the refusal has",
    );
    const calls: [string, object][] = [
      ["host.setMaintenanceMode", { id, maintenance: true }],
      ["host.evacuate", { id }],
      ["host.restart", { id }],
      ["host.stop", { id }],
      ["host.disable", { id, evacuate: true }],
    ];
    for (const [method, params] of calls)
      t.match(await admin.call(method, params), stuck, method);
    t.match(await now(), { enabled: true, power_state: "Running" });
    t.same(await places(), before);
    const action = `/hosts/${id}/actions/disable?sync=true`;
    const atRest = await admin.rest("POST", action, { evacuate: true });
    t.equal(atRest.status, 409);
  });

  t.test(
    "a blocked operation can be overridden, and is blocked again afterwards",
    async (t) => {
      const [vm] = guests;
      await admin.request("host.setMaintenanceMode", {
        id,
        maintenance: true,
        vmsToForceMigrate: [vm!.id],
      });
      t.match(await now(), { enabled: false });
      t.notOk(Object.values(await places()).includes(id));
      const { body } = await admin.rest("GET", `/vms/${vm!.id}`);
      t.match(body, { blockedOperations: { pool_migrate: "mine" } });
      await admin.request("vm.set", {
        id: vm!.id,
        blockedOperations: { pool_migrate: false },
      });
    },
  );

  t.test("maintenance mode ends with all VMs back", async (t) => {
    await admin.request("host.setMaintenanceMode", {
      id,
      maintenance: false,
      migrateBack: true,
    });
    t.match(await now(), { enabled: true });
    t.same(await places(), before);
    t.notMatch((await now())["otherConfig"], { "xo:evacuatedVms": String });
  });

  t.test("a failure during the operation changes nothing", async (t) => {
    const answer = await fetch(`${bench.pool.url}/sim/fail`, {
      method: "POST",
      body: JSON.stringify({
        method: "host.evacuate",
        error: "HOST_NOT_ENOUGH_FREE_MEMORY",
        params: ["2", "1"],
      }),
    });
    t.ok(answer.ok);
    t.match(
      await admin.call("host.setMaintenanceMode", { id, maintenance: true }),
      { error: { message: /HOST_NOT_ENOUGH_FREE_MEMORY/ } },
    );
    await bench.untilGone("hosts", "!enabled?");
    const network = (await list("networks", "name_label:eth1"))[0]!.id;
    await admin.request("host.evacuate", { id, network });
    t.notOk(Object.values(await places()).includes(id));
    await admin.request("host.enable", { id });
  });

  t.test("without the right it is refused", async (t) => {
    const eve = await bench.addUser("eve", { [id]: "operator" });
    for (const [method, params] of [
      ["host.setMaintenanceMode", { id, maintenance: true }],
      ["host.evacuate", { id }],
      ["host.listVmsPreventingEvacuation", { id }],
      ["host.enable", { id, migrateBack: true }],
    ] as const)
      t.match(await eve.call(method, params), { error: { code: 2 } }, method);
  });
});
