import t from "tap";
import { createTestPool, type TestPool } from "./operations-pool.js";
import type { XapiRecord, XapiValue } from "../src/xapi-value.js";
import {
  checkCases,
  nfs,
  find,
  type Texts,
  vbdOf,
  coordinator,
} from "./precondition-cases.js";

const thick = (pool: TestPool) =>
  find(pool, "SR", (sr) => sr["type"] === "lvmoiscsi");
const local = (pool: TestPool) =>
  find(pool, "SR", (sr) => sr["type"] === "ext");

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

checkCases([
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
    "an iSCSI SR needs a target, a name and a LUN",
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
    "a local SR needs a device that is free",
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
]);

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
