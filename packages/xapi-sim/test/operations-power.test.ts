import { NULL_REF } from "@xo-server/model";
import t from "tap";
import { createTestPool } from "./operations-pool.js";

t.test(
  "a started VM has a domain, devices, consoles, new VM_guest_metrics, memory in use and a message",
  async (t) => {
    const { call, db, guest, vm, changes } = createTestPool();
    const ref = guest("Halted");
    changes();
    await call("VM.start", ref, false, false);
    const record = vm(ref);
    t.equal(record["power_state"], "Running");
    t.strictSame(record["current_operations"], {});
    t.ok((record["allowed_operations"] as string[]).includes("hard_shutdown"));
    t.ok((record["domid"] as number) > 0);
    const host = db.get("host", record["resident_on"] as string);
    t.ok((host["resident_VMs"] as string[]).includes(ref));
    t.equal((record["consoles"] as string[]).length, 2);
    for (const vif of record["VIFs"] as string[])
      t.equal(db.get("VIF", vif)["currently_attached"], true);
    const metrics = db.get("VM_metrics", record["metrics"] as string);
    t.equal(
      metrics["start_time"],
      "20261121T120000Z".replace(/(\d\d)(\d\d)(\d\d)Z/, "$1:$2:$3Z"),
    );
    const burst = changes();
    for (const change of [
      "mod VM",
      "mod VM_metrics",
      "add VM_guest_metrics",
      "mod host",
      "mod host_metrics",
      "add console",
      "add message",
    ])
      t.ok(burst.includes(change), change);
  },
);

t.test(
  "while it starts, a VM shows the operation and allows almost none",
  async (t) => {
    const { call, db, guest, vm } = createTestPool();
    const ref = guest("Halted");
    const seen: unknown[] = [];
    db.onChange(({ className, record }) => {
      if (className === "VM" && record["uuid"] === vm(ref)["uuid"])
        seen.push(
          ...Object.values(
            record["current_operations"] as Record<string, string>,
          ),
        );
    });
    await call("VM.start", ref, false, false);
    t.ok(seen.includes("start"));
    t.strictSame(vm(ref)["current_operations"], {});
  },
);

t.test(
  "power states in errors are in lower case, with the states that would do",
  async (t) => {
    const { failure, guest } = createTestPool();
    const running = guest("Running");
    const halted = guest("Halted");
    t.strictSame(await failure("VM.start", running, false, false), [
      "VM_BAD_POWER_STATE",
      running,
      "halted",
      "running",
    ]);
    t.strictSame(await failure("VM.hard_shutdown", halted), [
      "VM_BAD_POWER_STATE",
      halted,
      "paused, suspended, running",
      "halted",
    ]);
    t.strictSame(await failure("VM.unpause", running), [
      "VM_BAD_POWER_STATE",
      running,
      "paused",
      "running",
    ]);
  },
);

t.test(
  "a template does not start, and an unknown reference is an error",
  async (t) => {
    const { failure, db } = createTestPool();
    const [template] = [...db.records("VM")].find(
      ([, record]) => record["is_default_template"] === true,
    )!;
    t.strictSame(await failure("VM.start", template, false, false), [
      "VM_IS_TEMPLATE",
      template,
      "start",
    ]);
    t.strictSame(await failure("VM.start", "OpaqueRef:x", false, false), [
      "HANDLE_INVALID",
      "VM",
      "OpaqueRef:x",
    ]);
    t.strictSame(await failure("VM.destroy", template), [
      "VM_CANNOT_DELETE_DEFAULT_TEMPLATE",
      template,
    ]);
  },
);

t.test("a host without enough memory reports the missing amount", async (t) => {
  const { failure, db, guest, vm } = createTestPool();
  const ref = guest("Halted");
  const [host] = [...db.refs("host")];
  db.update("host_metrics", db.get("host", host!)["metrics"] as string, {
    memory_free: 5,
  });
  const needed =
    (vm(ref)["memory_dynamic_max"] as number) +
    (vm(ref)["memory_overhead"] as number);
  const failed = await failure("VM.start_on", ref, host!, false, false);
  if (failed[0] === "VM_REQUIRES_SR")
    t.comment("this guest's disk is local to another host");
  else
    t.strictSame(failed, ["HOST_NOT_ENOUGH_FREE_MEMORY", String(needed), "5"]);
  for (const other of db.refs("host"))
    db.update("host", other, { enabled: false });
  t.strictSame(await failure("VM.start", ref, false, false), [
    "NO_HOSTS_AVAILABLE",
  ]);
});

t.test("shutdown releases everything that start took", async (t) => {
  const { call, db, guest, vm } = createTestPool();
  const ref = guest("Halted");
  const free = () =>
    [...db.records("host_metrics")].map(([, record]) => record["memory_free"]);
  const before = free();
  await call("VM.start", ref, false, false);
  await call("VM.hard_shutdown", ref);
  t.strictSame(free(), before);
  t.equal(vm(ref)["resident_on"], NULL_REF);
  t.equal(vm(ref)["domid"], -1);
  t.strictSame(vm(ref)["consoles"], []);
  const [last] = [...db.records("message")].slice(-1);
  t.match(last![1]["body"], /^VM '.*' \(uuid: .*\) shutdown forcibly$/);
});

t.test("a VM without guest tools cannot be shut down cleanly", async (t) => {
  const { failure, db, guest } = createTestPool();
  const ref = guest("Running");
  db.update("VM", ref, { guest_metrics: NULL_REF });
  t.strictSame(await failure("VM.clean_shutdown", ref), [
    "VM_LACKS_FEATURE",
    ref,
  ]);
});

t.test(
  "reboot creates a new VM_guest_metrics and deletes the old one",
  async (t) => {
    const { call, db, guest, vm } = createTestPool();
    const ref = guest("Running");
    const old = vm(ref)["guest_metrics"] as string;
    await call("VM.hard_reboot", ref);
    t.not(vm(ref)["guest_metrics"], old);
    t.equal(db.find("VM_guest_metrics", old), undefined);
  },
);

t.test("pause, unpause, suspend and resume return to Running", async (t) => {
  const { call, guest, vm, db } = createTestPool();
  const ref = guest("Running");
  await call("VM.pause", ref);
  t.equal(vm(ref)["power_state"], "Paused");
  await call("VM.unpause", ref);
  await call("VM.suspend", ref);
  t.equal(vm(ref)["power_state"], "Suspended");
  const image = vm(ref)["suspend_VDI"] as string;
  t.equal(db.get("VDI", image)["type"], "suspend");
  await call("VM.resume", ref, false, false);
  t.equal(vm(ref)["power_state"], "Running");
  t.equal(db.find("VDI", image), undefined);
});

t.test(
  "a hard shutdown during a reboot succeeds, and the reboot fails",
  async (t) => {
    const { call, failure, guest, vm, db } = createTestPool();
    const ref = guest("Running");
    const free = () =>
      [...db.records("host_metrics")].map(
        ([, record]) => record["memory_free"],
      );
    const reboot = failure("VM.hard_reboot", ref);
    await call("VM.hard_shutdown", ref);
    const after = free();
    t.strictSame(await reboot, [
      "VM_BAD_POWER_STATE",
      ref,
      "running",
      "halted",
    ]);
    t.equal(vm(ref)["power_state"], "Halted");
    t.strictSame(vm(ref)["current_operations"], {});
    t.strictSame(free(), after, "memory is given back once");
  },
);
