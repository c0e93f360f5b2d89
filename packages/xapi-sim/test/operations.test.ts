import { NULL_REF, datamodel } from "@xo-server/model";
import t from "tap";
import { operations } from "../src/plugins.js";
import { createTestPool } from "./operations-pool.js";

t.test("every operation is a message of the datamodel", async (t) => {
  const unknown = Object.keys(operations).filter((name) => {
    const [className, message] = name.split(".") as [string, string];
    return datamodel.classes[className]?.messages[message] === undefined;
  });
  t.strictSame(unknown, []);
});

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
  "a snapshot has disks of its own and names its VM; revert restores the VM",
  async (t) => {
    const { call, guest, vm, db } = createTestPool();
    const ref = guest("Halted");
    const snapshot = (await call("VM.snapshot", ref, "before", [])) as string;
    t.equal(vm(snapshot)["is_a_snapshot"], true);
    t.equal(vm(snapshot)["snapshot_of"], ref);
    t.ok((vm(ref)["snapshots"] as string[]).includes(snapshot));
    const disks = (vm(snapshot)["VBDs"] as string[])
      .map((vbd) => db.get("VBD", vbd)["VDI"] as string)
      .filter((vdi) => vdi !== NULL_REF)
      .map((vdi) => db.get("VDI", vdi))
      .filter((vdi) => vdi["is_a_snapshot"] === true);
    t.ok(disks.length > 0);
    db.update("VM", ref, { name_description: "changed" });
    const old = vm(ref)["VBDs"] as string[];
    await call("VM.revert", snapshot);
    t.equal(vm(ref)["name_description"], vm(snapshot)["name_description"]);
    t.equal((vm(ref)["VBDs"] as string[]).length, old.length);
    t.notOk((vm(ref)["VBDs"] as string[]).some((vbd) => old.includes(vbd)));
  },
);

t.test(
  "a snapshot with memory is like a suspended VM, and is destroyed with its image",
  async (t) => {
    const { call, guest, vm, db } = createTestPool();
    const ref = guest("Running");
    const host = vm(ref)["resident_on"] as string;
    const snapshot = (await call("VM.checkpoint", ref, "live")) as string;
    await call("VM.revert", snapshot);
    t.match(vm(ref), { power_state: "Suspended", resident_on: NULL_REF });
    t.notOk((db.get("host", host)["resident_VMs"] as string[]).includes(ref));
    const image = vm(snapshot)["suspend_VDI"] as string;
    await call("VM.destroy", snapshot);
    t.equal(db.find("VM", snapshot), undefined);
    t.equal(db.find("VDI", image), undefined);
  },
);

t.test(
  "a clone of a template is provisioned into a VM, which then starts and is destroyed",
  async (t) => {
    const { call, vm, db, failure } = createTestPool();
    const [template] = [...db.records("VM")].find(
      ([, record]) => record["name_label"] === "Debian Bookworm 12",
    )!;
    const ref = (await call("VM.clone", template, "new")) as string;
    t.equal(vm(ref)["is_a_template"], true);
    t.equal(vm(ref)["is_default_template"], false);
    const { default_template, base_template_name } = vm(ref)[
      "other_config"
    ] as Record<string, string>;
    t.equal(default_template, undefined);
    t.equal(base_template_name, "Debian Bookworm 12");
    const host = [...db.refs("host")][0]!;
    await call("VM.copy_bios_strings", ref, host);
    t.strictSame(vm(ref)["bios_strings"], db.get("host", host)["bios_strings"]);
    t.strictSame(await failure("VM.copy_bios_strings", ref, host), [
      "VM_BIOS_STRINGS_ALREADY_SET",
    ]);
    await call("VM.provision", ref);
    t.equal(vm(ref)["is_a_template"], false);
    t.equal((vm(ref)["VBDs"] as string[]).length, 1);
    await call("VM.start", ref, false, false);
    t.equal(vm(ref)["power_state"], "Running");
    t.strictSame((await failure("VM.destroy", ref)).slice(0, 1), [
      "VM_BAD_POWER_STATE",
    ]);
    await call("VM.hard_shutdown", ref);
    const metrics = vm(ref)["metrics"] as string;
    await call("VM.destroy", ref);
    t.equal(db.find("VM", ref), undefined);
    t.equal(db.find("VM_metrics", metrics), undefined);
    t.strictSame(
      await failure(
        "VM.provision",
        template === ref
          ? ""
          : ((await call("VM.create", {
              name_label: "x",
              is_a_template: false,
            })) as string),
      ),
      ["PROVISION_ONLY_ALLOWED_ON_TEMPLATE"],
    );
  },
);

t.test(
  "a VM moves to another host with its memory and its consoles",
  async (t) => {
    const { call, db, guest, vm } = createTestPool();
    const ref = guest("Running");
    const hosts = (await call("VM.get_possible_hosts", ref)) as string[];
    const target = hosts.find((host) => host !== vm(ref)["resident_on"]);
    if (target === undefined) return t.comment("this guest's disk is local");
    const consoles = vm(ref)["consoles"] as string[];
    await call("VM.pool_migrate", ref, target, {});
    t.equal(vm(ref)["resident_on"], target);
    t.equal(vm(ref)["scheduled_to_be_resident_on"], NULL_REF);
    t.notOk(
      (vm(ref)["consoles"] as string[]).some((console) =>
        consoles.includes(console),
      ),
    );
    const address = db.get("host", target)["address"] as string;
    const location = db.get("console", (vm(ref)["consoles"] as string[])[0]!)[
      "location"
    ];
    t.match(location, `https://${address}/console?ref=`);
  },
);

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

t.test("a host is emptied, rebooted and enabled again", async (t) => {
  const { call, db, failure, context } = createTestPool();
  const host = [...db.refs("host")].find(
    (ref) => ref !== context.pool.coordinatorRef(),
  )!;
  t.strictSame(await failure("host.reboot", host), ["HOST_NOT_DISABLED"]);
  const stuck = (await call(
    "host.get_vms_which_prevent_evacuation",
    host,
  )) as Record<string, string[]>;
  for (const vm of Object.keys(stuck)) await call("VM.hard_shutdown", vm);
  await call("host.disable", host);
  await call("host.evacuate", host);
  t.equal(
    (db.get("host", host)["resident_VMs"] as string[]).length,
    1,
    "its control domain stays",
  );
  await call("host.reboot", host);
  t.equal(db.get("host", host)["enabled"], true);
  t.equal(
    db.get("host_metrics", db.get("host", host)["metrics"] as string)["live"],
    true,
  );
});

t.test("a VLAN is created once per host on the same interface", async (t) => {
  const { call, db, failure } = createTestPool();
  const network = (await call("network.create", {
    name_label: "v",
    other_config: {},
  })) as string;
  const [bond] = [...db.records("PIF")].find(
    ([, pif]) => pif["management"] === true,
  )!;
  const pifs = (await call(
    "pool.create_VLAN_from_PIF",
    bond,
    network,
    777,
  )) as string[];
  t.equal(pifs.length, 3);
  t.equal((db.get("network", network)["PIFs"] as string[]).length, 3);
  t.strictSame(
    (await failure("VLAN.create", bond, 777, network))[0],
    "NETWORK_ALREADY_CONNECTED",
  );
  const other = db.create("network", {});
  t.strictSame(await failure("VLAN.create", bond, 777, other), [
    "PIF_VLAN_EXISTS",
    bond,
  ]);
  t.strictSame(
    (await failure("network.destroy", network))[0],
    "NETWORK_CONTAINS_PIF",
  );
  for (const pif of pifs) await call("PIF.destroy", pif);
  await call("network.destroy", network);
  t.equal(db.find("network", network), undefined);
});

t.test(
  "memory limits keep their order, and a running VM takes memory of its host",
  async (t) => {
    const { call, failure, guest, vm } = createTestPool();
    const halted = guest("Halted");
    await call("VM.set_memory", halted, 3 * 2 ** 30);
    t.equal(vm(halted)["memory_static_max"], 3 * 2 ** 30);
    t.equal(
      (await failure("VM.set_memory_limits", halted, 4, 3, 2, 1))[0],
      "MEMORY_CONSTRAINT_VIOLATION_ORDER",
    );
    const running = guest("Running");
    t.equal(
      (await failure("VM.set_memory_static_max", running, 2 ** 40))[0],
      "VM_BAD_POWER_STATE",
    );
  },
);

t.test("other operations wait for the running one", async (t) => {
  const { failure, db, guest } = createTestPool();
  const ref = guest("Halted");
  db.update("VM", ref, { current_operations: { "OpaqueRef:task": "clone" } });
  t.strictSame(await failure("VM.start", ref, false, false), [
    "OTHER_OPERATION_IN_PROGRESS",
    "VM",
    ref,
    "clone",
    "OpaqueRef:task",
  ]);
});

t.test("copies of one VM run concurrently", async (t) => {
  const { call, failure, db, guest } = createTestPool();
  const ref = guest("Halted");
  db.update("VM", ref, { current_operations: { "OpaqueRef:task": "clone" } });
  t.type(await call("VM.clone", ref, "another"), "string");
  db.update("VM", ref, { current_operations: { "OpaqueRef:task": "start" } });
  t.equal(
    (await failure("VM.clone", ref, "one more"))[0],
    "OTHER_OPERATION_IN_PROGRESS",
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
