import t from "tap";
import { startStorageBench, type Row } from "./storage-bench.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");

t.test("an SR enters and exits maintenance mode", LIMIT, async (t) => {
  const bench = await startStorageBench(t, "--pace", "0.1");
  const { admin, list } = bench;
  const [sr] = await list("srs", "shared? content_type:user");
  const id = sr!.id;
  const now = async () =>
    (await admin.rest("GET", `/srs/${id}`)).body as unknown as Row;
  const attached = async () =>
    (await list("pbds", `SR:${id} attached?`)).length;
  const pbds = await attached();
  const refused = await admin.call("sr.enableMaintenanceMode", { id });
  t.match(refused, {
    error: { data: { code: "INCORRECT_STATE", property: "VMs that use it" } },
  });
  const { actual } = refused.error!.data as { actual: string[] };
  t.ok(actual.length > 1);
  t.match(await now(), { inMaintenanceMode: false });
  const running = async () =>
    (await list("vms", "power_state:Running"))
      .map((vm) => vm.id)
      .filter((vm) => actual.includes(vm));

  t.test("users without the right are refused", async (t) => {
    const eve = await bench.addUser("eve", { [id]: "operator" });
    const params = { id, vmsToShutdown: actual };
    t.match(await eve.call("sr.enableMaintenanceMode", params), {
      error: { code: 2 },
    });
    t.match(await eve.call("sr.disableMaintenanceMode", { id }), {
      error: { code: 2 },
    });
    const mallory = await bench.addUser("mallory", { [id]: "admin" });
    t.match(await mallory.call("sr.enableMaintenanceMode", params), {
      error: { code: 1 },
    });
    t.match(await eve.call("sr.getAllUnhealthyVdiChainsLength"), {
      error: { code: 2 },
    });
  });

  t.test("a VM that cannot be shut down keeps the SR in use", async (t) => {
    const params = { id, vmsToShutdown: actual };
    t.match(await admin.call("sr.enableMaintenanceMode", params), {
      error: { data: { code: "VM_LACKS_FEATURE" } },
    });
    await bench.untilGone("srs", `id:${id} inMaintenanceMode?`);
    t.equal(await attached(), pbds);
    t.same((await running()).sort(), [...actual].sort());
  });

  t.test("in and out", async (t) => {
    for (const vm of await list(
      "vms",
      "power_state:Running !pvDriversDetected?",
    ))
      await admin.request("vm.stop", { id: vm.id, force: true });
    const left = await running();
    t.ok(left.length > 0);
    const params = { id, vmsToShutdown: left };
    await fetch(`${bench.pool.url}/sim/fail`, {
      method: "POST",
      body: JSON.stringify({ method: "PBD.unplug", error: "SR_IS_BUSY" }),
    });
    t.match(await admin.call("sr.enableMaintenanceMode", params), {
      error: { message: /SR_IS_BUSY/ },
    });
    await bench.untilGone("srs", `id:${id} inMaintenanceMode?`);
    t.equal(await attached(), pbds, "what fails puts everything back");
    t.same((await running()).sort(), [...left].sort());

    await admin.request("sr.enableMaintenanceMode", params);
    t.match(await now(), { inMaintenanceMode: true });
    t.equal(await attached(), 0);
    t.same(await running(), []);
    await admin.request("sr.disableMaintenanceMode", { id });
    t.match(await now(), { inMaintenanceMode: false });
    t.equal(await attached(), pbds);
    t.same((await running()).sort(), [...left].sort(), "they run again");
    t.match(await admin.call("sr.disableMaintenanceMode", { id }), {
      error: { data: { property: "inMaintenanceMode", actual: false } },
    });
  });

  t.test("chains are shown", async (t) => {
    t.match(await admin.request("sr.getVdiChainsInfo", { id }), {
      unhealthyVdis: Object,
      vdisWithUnknownVhdParent: Array,
    });
    t.type(await admin.request("sr.getAllUnhealthyVdiChainsLength"), "object");
  });
});
