import t from "tap";
import {
  checkAnswers,
  NULL,
  type AnswerCase,
  type Call,
} from "./support/answer-cases.js";
import { createTestPool, type TestPool } from "./operations-pool.js";
import type { XapiRecord, XapiValue } from "../src/xapi-value.js";

const none = "OpaqueRef:none";

function find(
  { db }: TestPool,
  className: string,
  fits: (record: XapiRecord) => boolean = () => true,
): string {
  for (const [ref, record] of db.records(className))
    if (fits(record)) return ref;
  throw new Error(`no ${className} fits`);
}

/** A device of a VM in this power state. */
function device(
  pool: TestPool,
  state: string,
  field: "VBDs" | "VIFs",
  tools = true,
): { vm: string; ref: string } {
  const vm = pool.guest(state);
  if (!tools) pool.db.update("VM", vm, { guest_metrics: NULL });
  const className = field === "VBDs" ? "VBD" : "VIF";
  const ref = (pool.vm(vm)[field] as string[]).find(
    (one) => pool.db.get(className, one)["type"] !== "CD",
  )!;
  return { vm, ref };
}

const newVbd = (pool: TestPool, patch: XapiRecord): XapiRecord => ({
  VM: pool.guest("Halted"),
  VDI: NULL,
  userdevice: "15",
  empty: false,
  mode: "RW",
  type: "Disk",
  bootable: false,
  ...patch,
});

const newVif = (pool: TestPool, patch: XapiRecord): XapiRecord => ({
  VM: pool.guest("Halted"),
  network: find(pool, "network"),
  device: "9",
  MAC: "",
  ...patch,
});

const nfs = (pool: TestPool) => find(pool, "SR", (sr) => sr["type"] === "nfs");
const disk = (pool: TestPool) =>
  find(pool, "VDI", (vdi) => (vdi["VBDs"] as string[]).length === 0);

/** Not with VIF.unplug_force, which needs no tools. */
const plugs = (["VBD", "VIF"] as const).flatMap((name) =>
  ["plug", "unplug"].map((verb) => [name, verb] as const),
);

checkAnswers([
  ...[...plugs, ["VIF", "unplug_force"] as const].map(
    ([name, verb]): AnswerCase => ({
      row: `${name} ${verb} halted`,
      prepare: (pool) => {
        const { vm, ref } = device(pool, "Halted", `${name}s`);
        return {
          call: [`${name}.${verb}`, ref],
          error: ["VM_BAD_POWER_STATE", vm, "running", "halted"],
        };
      },
    }),
  ),
  ...plugs.map(([name, verb]): AnswerCase => ({
    row: `hot ${name} ${verb}, without guest tools`,
    prepare: (pool) => {
      const { vm, ref } = device(pool, "Running", `${name}s`, false);
      const currently_attached = verb === "unplug";
      pool.db.update(name, ref, { currently_attached });
      return {
        call: [`${name}.${verb}`, ref],
        error: ["VM_MISSING_PV_DRIVERS", vm],
      };
    },
  })),
  {
    row: "hot VIF unplug_force, without guest tools",
    prepare: (pool) => ({
      call: [
        "VIF.unplug_force",
        device(pool, "Running", "VIFs", false).ref,
      ] as const,
    }),
  },
  {
    row: "hot VIF plug of a PV guest, without guest tools",
    prepare: (pool) => {
      const { vm, ref } = device(pool, "Running", "VIFs", false);
      pool.db.update("VM", vm, { domain_type: "pv" });
      pool.db.update("VIF", ref, { currently_attached: false });
      return { call: ["VIF.plug", ref] };
    },
  },
  ...(
    [
      [
        "VBD create bad dev",
        { userdevice: "zzz", empty: true, type: "CD", mode: "RO" },
        ["INVALID_DEVICE", "zzz"],
      ],
      [
        "VBD create empty disk",
        { empty: true },
        ["VBD_NOT_REMOVABLE_MEDIA", "in constructor"],
      ],
      ["VBD create null vdi disk", {}, ["HANDLE_INVALID", "VDI", NULL]],
    ] as const
  ).map(([row, patch, error]): AnswerCase => ({
    row,
    prepare: (pool) => ({
      call: ["VBD.create", newVbd(pool, patch)],
      error,
    }),
  })),
  {
    row: "VBD insert hdd",
    prepare: (pool) => {
      const fits = (vbd: XapiRecord) =>
        vbd["type"] === "CD" && vbd["empty"] === true;
      return { call: ["VBD.insert", find(pool, "VBD", fits), disk(pool)] };
    },
  },
  {
    row: "VBD insert bad",
    prepare: (pool) => {
      const fits = (vbd: XapiRecord) =>
        vbd["type"] === "CD" && vbd["empty"] === false;
      const drive = find(pool, "VBD", fits);
      return {
        call: ["VBD.insert", drive, none],
        error: ["VBD_NOT_EMPTY", drive],
      };
    },
  },
  {
    row: "VBD assert_attachable",
    prepare: (pool) => ({
      call: ["VBD.assert_attachable", device(pool, "Halted", "VBDs").ref],
    }),
  },
  {
    row: "VIF create device 99",
    prepare: (pool) => ({
      call: ["VIF.create", newVif(pool, { device: "99" })],
      result: /^OpaqueRef/,
    }),
  },
  {
    row: "VIF create multicast mac",
    prepare: (pool) => ({
      call: ["VIF.create", newVif(pool, { MAC: "01:02:03:04:05:06" })],
      result: /^OpaqueRef/,
    }),
  },
  {
    row: "VIF conf ipv4 static none",
    prepare: (pool) => ({
      call: ["VIF.configure_ipv4", find(pool, "VIF"), "Static", "", ""],
      error: ["INVALID_CIDR_ADDRESS_SPECIFIED", "address"],
    }),
  },
  {
    row: "VIF conf ipv4 static",
    prepare: (pool) => {
      const vif = find(pool, "VIF");
      pool.db.update("VIF", vif, { locking_mode: "locked", ipv4_allowed: [] });
      return {
        call: ["VIF.configure_ipv4", vif, "Static", "10.0.0.5/24", ""],
        error: ["ADDRESS_VIOLATES_LOCKING_CONSTRAINT", "10.0.0.5/24"],
      };
    },
  },
  ...(
    [
      ["VDI set_virtual_size RO", "VDI.set_virtual_size", 1],
      ["VDI set_read_only", "VDI.set_read_only", true],
      ["VDI set_sharable", "VDI.set_sharable", true],
      ["PBD set_device_config plugged", "PBD.set_device_config", {}],
    ] as readonly [string, string, XapiValue][]
  ).map(([row, method, value]): AnswerCase => ({
    row,
    prepare: (pool) => ({
      call: [method, find(pool, method.slice(0, 3)), value],
      error: ["PERMISSION_DENIED", ""],
    }),
  })),
  {
    row: "VDI copy null",
    prepare: (pool) => ({
      call: ["VDI.copy", disk(pool), NULL, NULL, NULL],
      error: ["HANDLE_INVALID", "SR", NULL],
    }),
  },
  {
    row: "VDI data_destroy",
    prepare: (pool) => {
      const vdi = disk(pool);
      pool.db.update("VDI", vdi, { cbt_enabled: false });
      return {
        call: ["VDI.data_destroy", vdi],
        error: ["VDI_NO_CBT_METADATA", vdi],
      };
    },
  },
  {
    row: "VDI introduce",
    prepare: (pool) => {
      const introduce: Call = [
        "VDI.introduce",
        "u",
        "n",
        "",
        nfs(pool),
        "user",
        false,
        false,
        {},
        "loc",
      ] as unknown as Call;
      return {
        call: introduce,
        error: [
          "INTERNAL_ERROR",
          "Storage_error ([S(Vdi_does_not_exist);S(loc)])",
        ],
      };
    },
  },
  ...["assert_supports", "enable", "disable"].map((verb): AnswerCase => ({
    row: `SR ${verb} db repl`,
    prepare: (pool) => ({
      call: [`SR.${verb}_database_replication`, nfs(pool)],
      error: ["SR_OPERATION_NOT_SUPPORTED", nfs(pool)],
    }),
  })),
  {
    row: "SR introduce bad type",
    prepare: () => ({
      call: ["SR.introduce", "u", "n", "", "bogus", "", true, {}],
      result: /^OpaqueRef/,
    }),
  },
  {
    row: "SR probe bad type",
    prepare: (pool) => ({
      call: ["SR.probe", find(pool, "host"), {}, "bogus", {}],
      error: ["SR_UNKNOWN_DRIVER", "bogus"],
    }),
  },
  {
    row: "SR probe_ext bad type",
    prepare: (pool) => ({
      call: ["SR.probe_ext", find(pool, "host"), {}, "bogus", {}],
      error: ["SR_UNKNOWN_DRIVER", "bogus"],
    }),
  },
  {
    row: "PBD destroy plugged",
    prepare: (pool) => ({
      call: [
        "PBD.destroy",
        find(pool, "PBD", (pbd) => pbd["currently_attached"] === true),
      ] as const,
      error: ["OPERATION_NOT_ALLOWED", "PBD is currently attached"],
    }),
  },
  {
    row: "PBD create bad",
    prepare: (pool) => ({
      call: [
        "PBD.create",
        { host: none, SR: nfs(pool), device_config: {} },
      ] as const,
      result: /^OpaqueRef/,
    }),
  },
]);

t.test("a forgotten disk is introduced, or found by a scan", async (t) => {
  const pool = createTestPool();
  const { call, db } = pool;
  const vdi = find(pool, "VDI", (record) => record["SR"] === nfs(pool));
  for (const vbd of db.get("VDI", vdi)["VBDs"] as string[])
    db.destroy("VBD", vbd);
  const { uuid, location } = db.get("VDI", vdi);
  await call("VDI.forget", vdi);
  t.equal(db.byUuid("VDI", uuid as string), undefined);
  const rest = [nfs(pool), "user", false, false, {}, location!];
  const again = (await call("VDI.introduce", "", "n", "", ...rest)) as string;
  t.match(db.get("VDI", again), { uuid, name_label: "n" });
  await call("VDI.forget", again);
  await call("SR.scan", nfs(pool));
  t.ok(db.byUuid("VDI", uuid as string));
});
