import t from "tap";
import { samplePool, withFields } from "./fixtures/sample-pool.js";
import { NULL, ref, uuid } from "./fixtures/sample-records.js";
import { viewOfChanged } from "./fixtures/view-of-changed.js";
import { vdiView } from "../src/views/vdi.js";

t.test("an SR has its allocated and its physical size in bytes", async (t) => {
  t.match(viewOfChanged("SR", 1), {
    name_label: "Shared NFS",
    content_type: "user",
    SR_type: "nfs",
    shared: true,
    size: 429496729600,
    physical_usage: 107374182400,
    usage: 214748364800,
    tags: ["fast"],
    VDIs: [1, 3, 4, 5].map((number) => uuid("VDI", number)),
    $PBDs: [uuid("PBD", 1), uuid("PBD", 2)],
  });
});

t.test("an SR's container is its host if it has only one", async (t) => {
  t.equal(viewOfChanged("SR", 2).$container, uuid("host", 1));
  t.equal(viewOfChanged("SR", 1).$container, uuid("pool", 1), "shared");
  t.equal(
    viewOfChanged("SR", 2, { PBDs: [] }).$container,
    uuid("pool", 1),
    "on none",
  );
});

t.test("allocation follows from the kind of storage", async (t) => {
  const strategy = (type: string) =>
    viewOfChanged("SR", 1, { type }).allocationStrategy;
  for (const type of ["lvm", "lvmoiscsi", "lvmohba", "iscsi", "hba"])
    t.equal(strategy(type), "thick", type);
  for (const type of ["nfs", "ext", "file", "smb", "zfs"])
    t.equal(strategy(type), "thin", type);
  t.notOk("allocationStrategy" in viewOfChanged("SR", 3), "iso");
  t.equal(strategy("linstor"), "unknown");
  const device_config = { provisioning: "thick" };
  const linstor = withFields(samplePool, "PBD", 1, { device_config });
  t.equal(
    viewOfChanged("SR", 1, { type: "linstor" }, linstor).allocationStrategy,
    "thick",
  );
});

t.test("an SR's maps and operations", async (t) => {
  t.match(
    viewOfChanged("SR", 1, {
      other_config: { "xo:maintenanceState": "{}", dirty: "" },
      sm_config: { chappassword: "made-up", devserial: "x" },
      current_operations: { "OpaqueRef:a": "scan" },
    }),
    {
      inMaintenanceMode: true,
      other_config: { dirty: "" },
      sm_config: { chappassword: "* obfuscated *", devserial: "x" },
      current_operations: { "OpaqueRef:a": "scan" },
    },
  );
  t.equal(viewOfChanged("SR", 1).inMaintenanceMode, false);
});

t.test("a VDI is a disk, a snapshot or unmanaged", async (t) => {
  t.equal(vdiView.typeOf({ managed: true }), "VDI");
  t.equal(vdiView.typeOf({ managed: false }), "VDI-unmanaged");
  t.equal(
    vdiView.typeOf({ managed: false, is_a_snapshot: true }),
    "VDI-snapshot",
  );
  t.equal(vdiView.typeOf({}), "VDI");
});

t.test("a VDI's fields", async (t) => {
  t.match(
    viewOfChanged("VDI", 1, {
      snapshots: [ref("VDI", 5)],
      sm_config: { "vhd-parent": "a-uuid", "image-format": "qcow2" },
      other_config: { secret: "made-up" },
      cbt_enabled: true,
      missing: true,
      tags: ["x"],
    }),
    {
      name_label: "web-1 disk",
      name_description: "",
      size: 10737418240,
      usage: 5368709120,
      VDI_type: "user",
      $SR: uuid("SR", 1),
      $VBDs: [uuid("VBD", 1)],
      snapshots: [uuid("VDI", 5)],
      parent: "a-uuid",
      image_format: "qcow2",
      cbt_enabled: true,
      missing: true,
      tags: ["x"],
      other_config: { secret: "* obfuscated *" },
      current_operations: {},
    },
  );
  t.notOk(
    "parent" in viewOfChanged("VDI", 1) ||
      "image_format" in viewOfChanged("VDI", 1),
  );
});

t.test("the use of a disk includes all images of its chain", async (t) => {
  const child = { sm_config: { "vhd-parent": uuid("VDI", 2) } };
  let records = withFields(samplePool, "VDI", 1, child);
  t.equal(
    viewOfChanged("VDI", 1, {}, records).chainPhysicalUsage,
    2 * 5368709120,
  );
  records = withFields(records, "VDI", 2, {
    sm_config: { "vhd-parent": uuid("VDI", 1) },
  });
  t.ok(
    Number.isInteger(viewOfChanged("VDI", 1, {}, records).chainPhysicalUsage),
    "a cyclic chain terminates",
  );
  t.equal(viewOfChanged("VDI", 3).chainPhysicalUsage, 5368709120);
  t.notOk("chainPhysicalUsage" in viewOfChanged("VDI", 5), "disks only");
});

t.test("a snapshot of a disk has its origin and time", async (t) => {
  t.match(viewOfChanged("VDI", 5), {
    snapshot_time: Date.UTC(2026, 10, 19, 12) / 1000,
    $snapshot_of: uuid("VDI", 1),
  });
  t.notOk("snapshot_time" in viewOfChanged("VDI", 1));
});

t.test("a VBD's fields", async (t) => {
  t.same(viewOfChanged("VBD", 1), {
    attached: true,
    bootable: true,
    device: "xvda",
    is_cd_drive: false,
    position: "0",
    read_only: false,
    VDI: uuid("VDI", 1),
    VM: uuid("VM", 3),
  });
  t.equal(viewOfChanged("VBD", 1, { device: "" }).device, null);
});

t.test("an empty drive has no VDI", async (t) => {
  const drive = viewOfChanged("VBD", 2);
  t.match(drive, { is_cd_drive: true, read_only: true, position: "3" });
  t.notOk("VDI" in drive);
  t.notOk("VDI" in viewOfChanged("VBD", 1, { VDI: NULL }));
});

t.test("a PBD never shows the password to its storage", async (t) => {
  const device_config = {
    location: "server:/x",
    password: "made-up",
    cifspassword_secret: "made-up",
    incoming_chappassword: "made-up",
    incoming_chapuser: "chap",
    S3_Secret_Key: "made-up",
  };
  const other_config = { a: "b", secret: "made-up" };
  const pbd = viewOfChanged("PBD", 1, { device_config, other_config });
  t.same(pbd, {
    attached: true,
    host: uuid("host", 1),
    SR: uuid("SR", 1),
    device_config: {
      location: "server:/x",
      password: "* obfuscated *",
      cifspassword_secret: "* obfuscated *",
      incoming_chappassword: "* obfuscated *",
      incoming_chapuser: "chap",
      S3_Secret_Key: "* obfuscated *",
    },
    otherConfig: { a: "b", secret: "* obfuscated *" },
  });
  t.equal(device_config.password, "made-up", "the record stays as it is");
});

t.test("a kind of storage", async (t) => {
  t.same(
    viewOfChanged("SM", 1, {
      features: { VDI_CREATE: "1", VDI_RESIZE: 2 },
      configuration: { password: "what it is for" },
      required_cluster_stack: ["x"],
      supported_image_formats: ["vhd"],
      driver_filename: "/opt/x",
    }),
    {
      SM_type: "nfs",
      name_label: "NFS",
      name_description: "",
      vendor: "made up",
      features: { VDI_CREATE: 1, VDI_RESIZE: 2 },
      configuration: { password: "what it is for" },
      required_cluster_stack: ["x"],
      supported_image_formats: ["vhd"],
      driver_filename: "/opt/x",
    },
  );
});
