import t from "tap";
import { createTestPool } from "./operations-pool.js";

t.test(
  "disks and interfaces are plugged and unplugged only while the VM runs, and only once",
  async (t) => {
    const { call, db, failure, guest, vm } = createTestPool();
    const running = guest("Running");
    const [vif] = vm(running)["VIFs"] as [string];
    t.strictSame(await failure("VIF.plug", vif), [
      "DEVICE_ALREADY_ATTACHED",
      vif,
    ]);
    await call("VIF.unplug", vif);
    t.equal(db.get("VIF", vif)["currently_attached"], false);
    t.strictSame(db.get("VIF", vif)["allowed_operations"], ["attach", "plug"]);
    const halted = guest("Halted");
    const [off] = vm(halted)["VIFs"] as [string];
    t.strictSame(await failure("VIF.plug", off), [
      "VM_BAD_POWER_STATE",
      halted,
      "running",
      "halted",
    ]);
  },
);

t.test("a CD drive holds one image at a time", async (t) => {
  const { call, db, failure, guest, vm } = createTestPool();
  const ref = guest("Running");
  const drive = (vm(ref)["VBDs"] as string[]).find(
    (vbd) => db.get("VBD", vbd)["type"] === "CD",
  )!;
  const [iso] = [...db.records("VDI")].find(([, vdi]) =>
    String(vdi["name_label"] as string).endsWith(".iso"),
  )!;
  if (db.get("VBD", drive)["empty"] === false) await call("VBD.eject", drive);
  t.strictSame(await failure("VBD.eject", drive), ["VBD_IS_EMPTY", drive]);
  await call("VBD.insert", drive, iso);
  t.equal(db.get("VBD", drive)["VDI"], iso);
  t.strictSame(await failure("VBD.insert", drive, iso), [
    "VBD_NOT_EMPTY",
    drive,
  ]);
});

t.test(
  "a disk in use cannot be destroyed; deletion of a free disk frees its space",
  async (t) => {
    const { call, db, failure } = createTestPool();
    const [used] = [...db.records("VBD")].find(
      ([, vbd]) => vbd["currently_attached"] === true && vbd["type"] === "Disk",
    )!;
    const vdi = db.get("VBD", used)["VDI"] as string;
    t.strictSame(await failure("VDI.destroy", vdi), [
      "VDI_IN_USE",
      vdi,
      "destroy",
    ]);
    const sr = db.get("VDI", vdi)["SR"] as string;
    const before = db.get("SR", sr)["physical_utilisation"];
    const created = (await call("VDI.create", {
      SR: sr,
      virtual_size: 2 ** 30,
      name_label: "d",
      type: "user",
    })) as string;
    await call("VDI.resize", created, 2 ** 31);
    t.equal(db.get("VDI", created)["virtual_size"], 2 ** 31);
    t.strictSame(await failure("VDI.resize", created, 1), [
      "VDI_TOO_SMALL",
      created,
      String(2 ** 31),
    ]);
    await call("VDI.destroy", created);
    t.equal(db.get("SR", sr)["physical_utilisation"], before);
  },
);

t.test(
  "a disk migrated to another SR is a new one, and keeps its properties",
  async (t) => {
    const { call, db, context, failure, guest } = createTestPool();
    const [own, other] = [...db.records("SR")]
      .filter(
        ([, sr]) => sr["shared"] === true && sr["content_type"] === "user",
      )
      .map(([ref]) => ref) as [string, string];
    const vdi = (await call("VDI.create", {
      SR: own,
      virtual_size: 2 ** 20,
      name_label: "d",
      type: "user",
    })) as string;
    t.strictSame(await failure("VDI.pool_migrate", vdi, other, {}), [
      "VDI_NEEDS_VM_FOR_MIGRATE",
      vdi,
    ]);
    await call("VBD.create", {
      VM: guest("Halted"),
      VDI: vdi,
      userdevice: "autodetect",
      type: "Disk",
      mode: "RW",
    });
    t.equal(await call("VDI.pool_migrate", vdi, own, {}), vdi);
    const moved = (await call("VDI.pool_migrate", vdi, other, {})) as string;
    t.not(moved, vdi);
    t.equal(db.get("VDI", moved)["SR"], other);
    const trimmed = await call(
      "host.call_plugin",
      context.pool.coordinatorRef(),
      "trim",
      "do_trim",
      { sr_uuid: db.get("SR", own)["uuid"] as string },
    );
    t.equal(trimmed, "True");
  },
);

t.test("an SR is deleted only when it is unplugged and empty", async (t) => {
  const { call, db, failure, context } = createTestPool();
  const coordinator = context.pool.coordinatorRef();
  const sr = (await call(
    "SR.create",
    coordinator,
    { server: "10.0.0.1", serverpath: "/export/new" },
    0,
    "new",
    "",
    "nfs",
    "user",
    true,
    {},
  )) as string;
  t.equal((db.get("SR", sr)["PBDs"] as string[]).length, 3);
  t.strictSame(await failure("SR.destroy", sr), ["SR_HAS_PBD", sr]);
  const vdi = (await call("VDI.create", {
    SR: sr,
    virtual_size: 2 ** 30,
    name_label: "d",
    type: "user",
  })) as string;
  for (const pbd of db.get("SR", sr)["PBDs"] as string[])
    await call("PBD.unplug", pbd);
  t.strictSame(await failure("SR.destroy", sr), ["SR_NOT_EMPTY"]);
  await call("VDI.destroy", vdi);
  await call("SR.destroy", sr);
  t.equal(db.find("SR", sr), undefined);
  t.strictSame(
    await failure(
      "SR.create",
      coordinator,
      {},
      0,
      "new",
      "",
      "nope",
      "user",
      true,
      {},
    ),
    ["SR_UNKNOWN_DRIVER", "nope"],
  );
});

t.test(
  "a VM moves with its disks to another SR, running all the while",
  async (t) => {
    const { call, db, guest, vm } = createTestPool();
    const ref = guest("Running");
    const disk = (vm(ref)["VBDs"] as string[]).find(
      (vbd) => db.get("VBD", vbd)["type"] === "Disk",
    )!;
    const vdi = db.get("VBD", disk)["VDI"] as string;
    const network = db.get(
      "PIF",
      [...db.records("PIF")].find(([, pif]) => pif["management"] === true)![0],
    )["network"] as string;
    const [sr] = [...db.records("SR")].find(
      ([other, record]) =>
        record["type"] === "nfs" || other === db.get("VDI", vdi)["SR"],
    )!;
    const source = vm(ref)["resident_on"] as string;
    const dest = (await call(
      "host.migrate_receive",
      source,
      network,
      {},
    )) as Record<string, string>;
    const [vif] = vm(ref)["VIFs"] as [string];
    await call(
      "VM.migrate_send",
      ref,
      dest,
      true,
      { [vdi]: sr },
      { [vif]: network },
      {},
    );
    t.equal(vm(ref)["power_state"], "Running");
    t.equal(db.get("VDI", db.get("VBD", disk)["VDI"] as string)["SR"], sr);
    t.equal(db.get("VIF", vif)["network"], network);
    t.match(
      await call(
        "VM.migrate_send",
        ref,
        { host: "OpaqueRef:x" },
        true,
        {},
        {},
        {},
      ).catch((error: { code: string }) => error.code),
      "INTERNAL_ERROR",
    );
  },
);
