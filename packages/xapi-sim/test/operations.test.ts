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
