import t from "tap";
import { createTestPool, type TestPool } from "./operations-pool.js";
import type { XapiRecord } from "../src/xapi-value.js";
import { checkCases, find, type Texts, vbdOf } from "./precondition-cases.js";

function driveOf(pool: TestPool, empty: boolean): string {
  return find(
    pool,
    "VBD",
    (vbd) => vbd["type"] === "CD" && vbd["empty"] === empty,
  );
}

checkCases([
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
    "a disk is not a drive",
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
]);

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
