import t from "tap";
import { ApiSession } from "./api-session.js";
import { startControlled } from "./controlled-pools.js";

t.comment("timeout=300000");

t.test("two operators at one VM", async (t) => {
  const { api, url, pools, record } = await startControlled(t, {
    hosts: 1,
    vms: 2,
    pace: 1,
  });
  const { database } = pools[0]!;
  const debian = { type: "VM-template", name_label: "Debian Bookworm 12" };
  const [template] = await api.all(debian);
  const other = await ApiSession.open(t, url);
  const order = { name_label: "of both", template: template!.id };
  const id = (await api.request("vm.create", order)) as string;
  const ref = database.byUuid("VM", id)!;
  const busy = new RegExp(
    `^OTHER_OPERATION_IN_PROGRESS\\(VM, ${ref}, start, OpaqueRef:.*\\)$`,
  );
  const begun = new Promise<void>((resolve) => {
    const stop = database.onChange(() => {
      const { current_operations } = database.get("VM", ref);
      if (Object.values(current_operations as object).length === 0) return;
      stop();
      resolve();
    });
  });
  const first = api.call("vm.start", { id });
  await begun;
  for (const [method, params] of [
    ["vm.start", { id }],
    ["vm.snapshot", { id }],
    ["vm.clone", { id, name: "x" }],
    ["vm.delete", { id }],
  ] as const)
    t.match(await other.call(method, params), { error: { message: busy } });
  t.match(await first, { result: true }, "the first is not disturbed");
  t.match(await other.get(id), { power_state: "Running" });

  const [a, b] = await Promise.all([
    api.call("vm.stop", { id, force: true }),
    other.call("vm.stop", { id, force: true }),
  ]);
  const done = [a, b].filter(({ result }) => result === true).length;
  t.ok(done >= 1, JSON.stringify([a, b]));
  t.equal(record("VM", id)["power_state"], "Halted");
  await Promise.all([
    api.call("vm.set", { id, name_label: "of the first", CPUs: 1 }),
    other.call("vm.set", { id, notes: "of the second" }),
  ]);
  t.match(await api.get(id), {
    name_label: "of the first",
    notes: "of the second",
  });
  const deleted = await Promise.all([
    api.call("vm.delete", { id }),
    other.call("vm.delete", { id }),
  ]);
  t.equal(deleted.filter(({ result }) => result === true).length >= 1, true);
  t.same(await api.all({ id }), []);
  t.match(await other.call("vm.start", { id }), { error: { code: 1 } });
});
