import t from "tap";
import { createTestPool, type TestPool } from "./operations-pool.js";
import type { XapiRecord, XapiValue } from "../src/xapi-value.js";

type Call = readonly [method: string, ...params: XapiValue[]];
type Case = readonly [
  title: string,
  /** Prepares; the call that fails, and with what. */
  broken: (pool: TestPool) => {
    readonly call: Call;
    readonly error: readonly string[];
  },
];

type Texts = readonly string[];

function find(
  { db }: TestPool,
  className: string,
  fits: (record: XapiRecord, ref: string) => boolean,
): string {
  for (const [ref, record] of db.records(className))
    if (fits(record, ref)) return ref;
  throw new Error(`no ${className} fits`);
}

const nfs = (pool: TestPool) =>
  find(pool, "SR", (sr) => sr["type"] === "nfs" && sr["shared"] === true);
const thick = (pool: TestPool) =>
  find(pool, "SR", (sr) => sr["type"] === "lvmoiscsi");
const local = (pool: TestPool) =>
  find(pool, "SR", (sr) => sr["type"] === "ext");
const coordinator = (pool: TestPool) => pool.context.pool.coordinatorRef();

/** A VBD of a guest in this state. */
function vbdOf(pool: TestPool, state: string, type = "Disk"): string {
  const vm = pool.guest(state);
  return (pool.vm(vm)["VBDs"] as Texts).find(
    (ref) => pool.db.get("VBD", ref)["type"] === type,
  )!;
}

function driveOf(pool: TestPool, empty: boolean): string {
  return find(
    pool,
    "VBD",
    (vbd) => vbd["type"] === "CD" && vbd["empty"] === empty,
  );
}

const newDisk = (SR: string, virtual_size: number): XapiRecord => ({
  SR,
  virtual_size,
  name_label: "d",
  type: "user",
});

const newSr = (
  host: string,
  type: string,
  device: XapiRecord,
): readonly XapiValue[] => [host, device, 0, "n", "", type, "user", false, {}];

function slave(pool: TestPool): string {
  return find(pool, "PIF", (pif) => pif["bond_slave_of"] !== "OpaqueRef:NULL");
}

function management(pool: TestPool): string {
  return find(pool, "PIF", (pif) => pif["management"] === true);
}

const cases: readonly Case[] = [
  [
    "a disk has a size that drivers can make",
    (pool) => ({
      call: ["VDI.create", newDisk(nfs(pool), 0)],
      error: [
        "SR_BACKEND_FAILURE_79",
        "",
        "VDI Invalid size [opterr=VDI size must be between 1 MB and 2088960 MB]",
        "",
      ],
    }),
  ],
  [
    "block storage has room for the whole disk or none",
    (pool) => {
      const sr = thick(pool);
      pool.db.update("SR", sr, {
        physical_size: 2 ** 31,
        physical_utilisation: 2 ** 30,
      });
      return {
        call: ["VDI.create", newDisk(sr, 2 ** 31)],
        error: ["SR_FULL", String(2 ** 31), String(2 ** 30)],
      };
    },
  ],
  [
    "no disk is made on an SR that no host has at hand",
    (pool) => {
      const sr = nfs(pool);
      for (const pbd of pool.db.get("SR", sr)["PBDs"] as Texts)
        pool.db.update("PBD", pbd, { currently_attached: false });
      return {
        call: ["VDI.create", newDisk(sr, 2 ** 30)],
        error: ["SR_HAS_NO_PBDS", sr],
      };
    },
  ],
  [
    "the SR of the tools holds no other disks",
    (pool) => {
      const sr = find(pool, "SR", (record) => record["is_tools_sr"] === true);
      return {
        call: ["VDI.create", newDisk(sr, 2 ** 30)],
        error: ["SR_OPERATION_NOT_SUPPORTED", sr],
      };
    },
  ],
  [
    "a disk that a VM writes to is not destroyed",
    (pool) => {
      const vdi = pool.db.get("VBD", vbdOf(pool, "Running"))["VDI"] as string;
      return {
        call: ["VDI.destroy", vdi],
        error: ["VDI_IN_USE", vdi, "destroy"],
      };
    },
  ],
  [
    "a disk that a VM writes to is not copied",
    (pool) => {
      const vdi = pool.db.get("VBD", vbdOf(pool, "Running"))["VDI"] as string;
      return {
        call: ["VDI.copy", vdi, nfs(pool), "OpaqueRef:NULL", "OpaqueRef:NULL"],
        error: ["VDI_IN_USE", vdi, "copy"],
      };
    },
  ],
  [
    "a disk does one thing at a time",
    (pool) => {
      const vdi = pool.db.get("VBD", vbdOf(pool, "Halted"))["VDI"] as string;
      pool.db.update("VDI", vdi, {
        current_operations: { "OpaqueRef:task": "copy" },
      });
      return {
        call: ["VDI.resize", vdi, 2 ** 40],
        error: [
          "OTHER_OPERATION_IN_PROGRESS",
          "VDI",
          vdi,
          "copy",
          "OpaqueRef:task",
        ],
      };
    },
  ],
  [
    "a disk with tracked changes does not move",
    (pool) => {
      const vdi = pool.db.get("VBD", vbdOf(pool, "Running"))["VDI"] as string;
      pool.db.update("VDI", vdi, { cbt_enabled: true });
      return {
        call: ["VDI.pool_migrate", vdi, thick(pool), {}],
        error: ["VDI_CBT_ENABLED", vdi],
      };
    },
  ],
  [
    "an SR is scanned once at a time",
    (pool) => {
      const sr = nfs(pool);
      pool.db.update("SR", sr, {
        current_operations: { "OpaqueRef:task": "scan" },
      });
      return {
        call: ["SR.scan", sr],
        error: [
          "OTHER_OPERATION_IN_PROGRESS",
          "SR",
          sr,
          "scan",
          "OpaqueRef:task",
        ],
      };
    },
  ],
  [
    "an SR that must stay is not forgotten",
    (pool) => {
      const sr = nfs(pool);
      for (const pbd of pool.db.get("SR", sr)["PBDs"] as Texts)
        pool.db.update("PBD", pbd, { currently_attached: false });
      pool.db.update("SR", sr, { other_config: { indestructible: "true" } });
      return { call: ["SR.forget", sr], error: ["SR_INDESTRUCTIBLE", sr] };
    },
  ],
  [
    "a plugged SR is not forgotten",
    (pool) => ({
      call: ["SR.forget", nfs(pool)],
      error: ["SR_HAS_PBD", nfs(pool)],
    }),
  ],
  [
    "an iSCSI SR wants a target, a name and a LUN",
    (pool) => ({
      call: [
        "SR.create",
        ...newSr(coordinator(pool), "lvmoiscsi", {
          target: "10.0.0.1",
          targetIQN: "iqn",
        }),
      ],
      error: [
        "SR_BACKEND_FAILURE_107",
        "",
        "The SCSIid parameter is missing or incorrect",
        "",
      ],
    }),
  ],
  [
    "a local SR wants a device that is free",
    (pool) => {
      const [pbd] = pool.db.get("SR", local(pool))["PBDs"] as Texts;
      const { host, device_config } = pool.db.get("PBD", pbd!);
      return {
        call: [
          "SR.create",
          ...newSr(host as string, "ext", device_config as XapiRecord),
        ],
        error: [
          "SR_BACKEND_FAILURE_77",
          "",
          "Logical Volume group creation failed",
          "",
        ],
      };
    },
  ],
  [
    "a host has one PBD for an SR",
    (pool) => {
      const [pbd] = pool.db.get("SR", nfs(pool))["PBDs"] as Texts;
      const { host } = pool.db.get("PBD", pbd!);
      return {
        call: ["PBD.create", { host: host!, SR: nfs(pool), device_config: {} }],
        error: ["PBD_EXISTS", nfs(pool), host as string, pbd!],
      };
    },
  ],
  [
    "a local SR is one host's",
    (pool) => {
      const sr = local(pool);
      const [pbd] = pool.db.get("SR", sr)["PBDs"] as Texts;
      const { host } = pool.db.get("PBD", pbd!);
      const other = find(pool, "host", (_, ref) => ref !== host);
      return {
        call: ["PBD.create", { host: other, SR: sr, device_config: {} }],
        error: ["SR_NOT_SHARABLE", sr, other],
      };
    },
  ],
  [
    "a PBD is not plugged on a host that is away",
    (pool) => {
      const [pbd] = pool.db.get("SR", nfs(pool))["PBDs"] as Texts;
      const host = pool.db.get("PBD", pbd!)["host"] as string;
      pool.db.update("PBD", pbd!, { currently_attached: false });
      pool.db.update(
        "host_metrics",
        pool.db.get("host", host)["metrics"] as string,
        { live: false },
      );
      return { call: ["PBD.plug", pbd!], error: ["HOST_OFFLINE", host] };
    },
  ],
  [
    "a PBD with open disks stays plugged",
    (pool) => {
      const vbd = pool.db.get("VBD", vbdOf(pool, "Running"));
      const vdi = vbd["VDI"] as string;
      const { resident_on } = pool.db.get("VM", vbd["VM"] as string);
      const sr = pool.db.get("VDI", vdi)["SR"];
      const pbd = find(
        pool,
        "PBD",
        (record) => record["SR"] === sr && record["host"] === resident_on,
      );
      return { call: ["PBD.unplug", pbd], error: ["VDI_IN_USE"] };
    },
  ],
  [
    "what is in a drive comes out first",
    (pool) => {
      const drive = driveOf(pool, false);
      const vdi = pool.db.get("VBD", drive)["VDI"] as string;
      return {
        call: ["VBD.insert", drive, vdi],
        error: ["VBD_NOT_EMPTY", drive],
      };
    },
  ],
  [
    "from an empty drive nothing comes out",
    (pool) => ({
      call: ["VBD.eject", driveOf(pool, true)],
      error: ["VBD_IS_EMPTY", driveOf(pool, true)],
    }),
  ],
  [
    "a disk is no drive",
    (pool) => {
      const vbd = vbdOf(pool, "Running");
      return {
        call: ["VBD.eject", vbd],
        error: ["VBD_NOT_REMOVABLE_MEDIA", vbd],
      };
    },
  ],
  [
    "what cannot be unplugged is not",
    (pool) => {
      const vbd = vbdOf(pool, "Running");
      pool.db.update("VBD", vbd, { unpluggable: false });
      return { call: ["VBD.unplug", vbd], error: ["VBD_NOT_UNPLUGGABLE", vbd] };
    },
  ],
  [
    "a plugged disk is not plugged again",
    (pool) => {
      const vbd = vbdOf(pool, "Running");
      return {
        call: ["VBD.plug", vbd],
        error: ["DEVICE_ALREADY_ATTACHED", vbd],
      };
    },
  ],
  [
    "a disk is not unplugged twice",
    (pool) => {
      const vbd = vbdOf(pool, "Running");
      pool.db.update("VBD", vbd, { currently_attached: false });
      return {
        call: ["VBD.unplug", vbd],
        error: ["DEVICE_ALREADY_DETACHED", vbd],
      };
    },
  ],
  [
    "two VMs do not write to one disk",
    (pool) => {
      const vdi = pool.db.get("VBD", vbdOf(pool, "Running"))["VDI"] as string;
      const vm = pool.guest("Halted");
      pool.db.create("VBD", {
        VM: vm,
        VDI: vdi,
        mode: "RW",
        type: "Disk",
        userdevice: "9",
      });
      return {
        call: ["VM.start", vm, false, false],
        error: ["VDI_IN_USE", vdi, "attach"],
      };
    },
  ],
  [
    "a disk that is read only is not written to",
    (pool) => {
      const vdi = pool.db.get("VBD", vbdOf(pool, "Halted"))["VDI"] as string;
      pool.db.update("VDI", vdi, { read_only: true });
      return {
        call: [
          "VBD.create",
          {
            VM: pool.guest("Running"),
            VDI: vdi,
            mode: "RW",
            type: "Disk",
            userdevice: "autodetect",
          },
        ],
        error: ["VDI_READONLY", vdi],
      };
    },
  ],
  [
    "a place holds one disk",
    (pool) => {
      const vbd = pool.db.get("VBD", vbdOf(pool, "Halted"));
      return {
        call: [
          "VBD.create",
          {
            VM: vbd["VM"]!,
            VDI: "OpaqueRef:NULL",
            empty: true,
            mode: "RO",
            type: "CD",
            userdevice: vbd["userdevice"]!,
          },
        ],
        error: ["DEVICE_ALREADY_EXISTS", vbd["userdevice"] as string],
      };
    },
  ],
  [
    "an interface may only have addresses",
    (pool) => ({
      call: [
        "VIF.set_ipv4_allowed",
        find(pool, "VIF", () => true),
        ["10.0.0.300"],
      ],
      error: ["INVALID_IP_ADDRESS_SPECIFIED", "ipv4_allowed"],
    }),
  ],
  [
    "a network with plugged interfaces stays",
    (pool) => {
      const [vif] = pool.vm(pool.guest("Running"))["VIFs"] as Texts;
      const network = pool.db.get("VIF", vif!)["network"] as string;
      return {
        call: ["network.destroy", network],
        error: ["NETWORK_CONTAINS_VIF"],
      };
    },
  ],
  [
    "a network has one interface of a host",
    (pool) => {
      const pif = management(pool);
      const network = pool.db.get("PIF", slave(pool))["network"] as string;
      const host = pool.db.get("PIF", pif)["host"] as string;
      return {
        call: ["VLAN.create", pif, 9, network],
        error: ["NETWORK_ALREADY_CONNECTED", host],
      };
    },
  ],
  [
    "a bond is of two at least",
    (pool) => ({
      call: [
        "Bond.create",
        pool.db.create("network", {}),
        [slave(pool)],
        "",
        "lacp",
        {},
      ],
      error: ["PIF_BOND_NEEDS_MORE_MEMBERS"],
    }),
  ],
  [
    "a member of a bond is in no other",
    (pool) => {
      const host = pool.db.get("PIF", slave(pool))["host"];
      const pifs = [...pool.db.records("PIF")]
        .filter(([, pif]) => pif["physical"] === true && pif["host"] === host)
        .map(([ref]) => ref);
      return {
        call: [
          "Bond.create",
          pool.db.create("network", {}),
          pifs,
          "",
          "lacp",
          {},
        ],
        error: ["PIF_ALREADY_BONDED", pifs[0]!],
      };
    },
  ],
  [
    "the management interface keeps an address",
    (pool) => ({
      call: ["PIF.reconfigure_ip", management(pool), "None", "", "", "", ""],
      error: ["PIF_IS_MANAGEMENT_INTERFACE", management(pool)],
    }),
  ],
  [
    "an address is one",
    (pool) => ({
      call: [
        "PIF.reconfigure_ip",
        management(pool),
        "Static",
        "10.0.0",
        "255.0.0.0",
        "",
        "",
      ],
      error: ["INVALID_IP_ADDRESS_SPECIFIED", "IP"],
    }),
  ],
  [
    "a tunnel wants an interface with an address",
    (pool) => {
      const pif = find(pool, "PIF", (record) => Number(record["VLAN"]) > 0);
      return {
        call: ["tunnel.create", pif, pool.db.create("network", {}), "gre"],
        error: ["TRANSPORT_PIF_NOT_CONFIGURED", pif],
      };
    },
  ],
  [
    "a host with a guest that cannot leave is not emptied",
    (pool) => {
      const vm = pool.guest("Running");
      const host = pool.vm(vm)["resident_on"] as string;
      for (const other of pool.db.refs("host"))
        if (other !== host) pool.db.update("host", other, { enabled: false });
      return {
        call: ["host.assert_can_evacuate", host],
        error: ["CANNOT_EVACUATE_HOST"],
      };
    },
  ],
  [
    "a host is emptied once at a time",
    (pool) => {
      const host = coordinator(pool);
      pool.db.update("host", host, {
        current_operations: { "OpaqueRef:task": "evacuate" },
      });
      return {
        call: ["host.evacuate", host],
        error: ["HOST_EVACUATE_IN_PROGRESS", host],
      };
    },
  ],
  [
    "a blocked operation says why",
    (pool) => {
      const vm = pool.guest("Running");
      pool.db.update("VM", vm, {
        blocked_operations: { clean_shutdown: "because" },
      });
      return {
        call: ["VM.clean_shutdown", vm],
        error: ["OPERATION_BLOCKED", vm, "because"],
      };
    },
  ],
  [
    "a VM with a device of its host does not move",
    (pool) => {
      const vm = pool.guest("Running");
      const pci = find(pool, "PCI", () => true);
      pool.db.update("VM", vm, { attached_PCIs: [pci] });
      return { call: ["VM.suspend", vm], error: ["VM_HAS_PCI_ATTACHED", vm] };
    },
  ],
  [
    "a VM with a GPU of its host does not move",
    (pool) => {
      const vm = pool.guest("Running");
      pool.db.create("VGPU", { VM: vm });
      const host = find(
        pool,
        "host",
        (_, ref) => ref !== pool.vm(vm)["resident_on"],
      );
      return {
        call: ["VM.pool_migrate", vm, host, {}],
        error: ["VM_HAS_VGPU", vm],
      };
    },
  ],
  [
    "no quiesced snapshots",
    (pool) => {
      const vm = pool.guest("Running");
      return {
        call: ["VM.snapshot_with_quiesce", vm, "q"],
        error: ["VM_SNAPSHOT_WITH_QUIESCE_NOT_SUPPORTED", vm],
      };
    },
  ],
  [
    "a suspended VM wants room for its memory",
    (pool) => {
      const vm = pool.guest("Running");
      const sr = nfs(pool);
      pool.db.update("VM", vm, { suspend_SR: sr });
      pool.db.update("SR", sr, { physical_size: 1, physical_utilisation: 1 });
      return {
        call: ["VM.suspend", vm],
        error: [
          "SR_FULL",
          `${pool.vm(vm)["memory_dynamic_max"] as number}`,
          "0",
        ],
      };
    },
  ],
];

for (const [title, broken] of cases)
  t.test(title, async (t) => {
    const pool = createTestPool();
    const { call, error } = broken(pool);
    pool.changes();
    const failed = await pool.failure(...call);
    t.strictSame(failed.slice(0, error.length), error);
    const changed = pool
      .changes()
      .filter((change) => !/VM$|VBD$|VIF$|VDI$/.test(change));
    t.strictSame(changed, [], "nothing has changed");
  });

t.test("a disk's size is whole blocks of its driver", async (t) => {
  const pool = createTestPool();
  const { call, db } = pool;
  const vdi = (await call(
    "VDI.create",
    newDisk(nfs(pool), 5_000_000),
  )) as string;
  t.equal(db.get("VDI", vdi)["virtual_size"], 6 * 2 ** 20);
  await call("VDI.resize", vdi, 7_500_000);
  t.equal(db.get("VDI", vdi)["virtual_size"], 8 * 2 ** 20);
});

t.test(
  "block storage uses the whole disk, and more when it grows",
  async (t) => {
    const pool = createTestPool();
    const { call, db } = pool;
    const sr = thick(pool);
    const used = () => Number(db.get("SR", sr)["physical_utilisation"]);
    const before = used();
    const vdi = (await call("VDI.create", newDisk(sr, 2 ** 30))) as string;
    t.equal(used() - before, 2 ** 30);
    await call("VDI.resize", vdi, 2 ** 31);
    t.equal(used() - before, 2 ** 31);
    await call("VDI.destroy", vdi);
    t.equal(used(), before);
  },
);

t.test("devices show their operations", async (t) => {
  const pool = createTestPool();
  const { call, db } = pool;
  const vbd = vbdOf(pool, "Running");
  const [vif] = pool.vm(pool.guest("Running"))["VIFs"] as Texts;
  const seen: unknown[] = [];
  db.onChange(({ ref, record }) => {
    if (ref !== vbd && ref !== vif) return;
    const running = Object.values(record["current_operations"] as XapiRecord);
    if (running.length > 0) seen.push(...running, record["allowed_operations"]);
  });
  await call("VBD.unplug", vbd);
  t.match(db.get("VBD", vbd), {
    currently_attached: false,
    allowed_operations: ["attach", "plug"],
  });
  await call("VBD.plug", vbd);
  await call("VIF.unplug", vif!);
  t.ok(seen.includes("unplug") && seen.includes("plug"));
  for (const { allowed_operations } of [
    db.get("VBD", vbd),
    db.get("VIF", vif!),
  ])
    t.ok((allowed_operations as Texts).length > 0);
});

t.test("an SR may go only when no host has it at hand", async (t) => {
  const pool = createTestPool();
  const { call, db } = pool;
  const sr = (await call(
    "SR.create",
    ...newSr(coordinator(pool), "ext", { device: "/dev/sdz" }),
  )) as string;
  const allowed = () => db.get("SR", sr)["allowed_operations"] as Texts;
  t.notOk(allowed().includes("forget"));
  const [pbd] = db.get("SR", sr)["PBDs"] as Texts;
  await call("PBD.unplug", pbd!);
  t.ok(allowed().includes("forget") && !allowed().includes("scan"));
  await call("PBD.plug", pbd!);
  t.ok(allowed().includes("scan"));
});

t.test("free interfaces are bonded and released again", async (t) => {
  const pool = createTestPool({ hosts: 10, vms: 5 });
  const { call, db } = pool;
  const host = coordinator(pool);
  const free = [...db.records("PIF")]
    .filter(
      ([, pif]) =>
        pif["host"] === host &&
        pif["physical"] === true &&
        pif["bond_slave_of"] === "OpaqueRef:NULL",
    )
    .map(([ref]) => ref);
  t.equal(free.length, 2);
  const network = (await call("network.create", {
    name_label: "n",
    other_config: {},
  })) as string;
  const bond = (await call(
    "Bond.create",
    network,
    free,
    "",
    "balance-slb",
    {},
  )) as string;
  t.match(db.get("PIF", db.get("Bond", bond)["master"] as string), {
    device: "bond1",
    network,
  });
  for (const pif of free) t.equal(db.get("PIF", pif)["bond_slave_of"], bond);
  await call("Bond.destroy", bond);
  for (const pif of free)
    t.equal(db.get("PIF", pif)["bond_slave_of"], "OpaqueRef:NULL");
});

t.test("a tunnel is an interface over another", async (t) => {
  const pool = createTestPool();
  const { call, db } = pool;
  const network = (await call("network.create", {
    name_label: "n",
    other_config: {},
  })) as string;
  const tunnel = (await call(
    "tunnel.create",
    management(pool),
    network,
    "vxlan",
  )) as string;
  const { access_PIF } = db.get("tunnel", tunnel);
  t.match(db.get("PIF", access_PIF as string), { network, device: "tunnel0" });
  await call("tunnel.destroy", tunnel);
  t.equal(db.find("PIF", access_PIF as string), undefined);
});
