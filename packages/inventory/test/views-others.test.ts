import t from "tap";
import { RecordLinks } from "./fixtures/record-links.js";
import { samplePool, withFields } from "./fixtures/sample-pool.js";
import { ref, uuid } from "./fixtures/sample-records.js";
import { viewOfChanged } from "./fixtures/view-of-changed.js";

const view = (
  className: string,
  fields: Record<string, unknown>,
  records = samplePool,
) => viewOfChanged(className, 1, fields, records);

const gpus = ["PGPU", "VGPU", "GPU_group", "VGPU_type", "PCI"].reduce(
  (records, className) => withFields(records, className, 1, {}),
  samplePool,
);
const usbs = ["PUSB", "VUSB", "USB_group"].reduce(
  (records, className) => withFields(records, className, 1, {}),
  samplePool,
);

t.test("a message", async (t) => {
  t.same(view("message", {}), {
    name: "VM_STARTED",
    body: "VM started",
    time: Date.UTC(2026, 10, 20, 12, 0, 1) / 1000,
    $object: uuid("VM", 3),
  });
});

t.test("a task", async (t) => {
  t.same(
    view("task", {
      name_label: "VM.start",
      name_description: "",
      status: "success",
      progress: 1,
      created: "20261120T12:00:00Z",
      finished: "20261120T12:00:05Z",
      allowed_operations: ["cancel"],
      current_operations: {},
      result: "<value>x</value>",
      resident_on: ref("host", 2),
      other_config: { applies_to: "OpaqueRef:x" },
    }),
    {
      name_label: "VM.start",
      name_description: "",
      status: "success",
      progress: 1,
      created: Date.UTC(2026, 10, 20, 12) / 1000,
      finished: Date.UTC(2026, 10, 20, 12, 0, 5) / 1000,
      allowedOperations: ["cancel"],
      current_operations: {},
      result: "<value>x</value>",
      $host: uuid("host", 2),
      applies_to: "OpaqueRef:x",
      xapiRef: ref("task", 1),
    },
  );
  const pending = view("task", {
    status: "pending",
    progress: 0.25,
    finished: "19700101T00:00:00Z",
  });
  t.equal(pending.progress, 0.25);
  t.notOk("finished" in pending || "applies_to" in pending);
});

t.test("a patch on a host has the fields of the pool's patch", async (t) => {
  const records = withFields(samplePool, "pool_patch", 1, {
    name_label: "XS70E001",
    name_description: "A fix",
    after_apply_guidance: ["restartHost"],
    size: "1024",
    pool_applied: true,
    host_patches: [ref("host_patch", 1)],
  });
  const fields = {
    applied: true,
    timestamp_applied: "20170101T00:00:00Z",
    host: ref("host", 1),
    pool_patch: ref("pool_patch", 1),
  };
  const common = {
    applied: true,
    name: "XS70E001",
    description: "A fix",
    guidance: ["restartHost"],
    size: 1024,
  };
  t.same(view("host_patch", fields, records), {
    ...common,
    time: Date.UTC(2017, 0, 1) / 1000,
    $host: uuid("host", 1),
    pool_patch: ref("pool_patch", 1),
  });
  const both = withFields(records, "host_patch", 1, fields);
  t.same(view("pool_patch", {}, both), {
    ...common,
    $host_patches: [uuid("host_patch", 1)],
  });
});

t.test(
  "a patch of a host without a pool patch has its own fields",
  async (t) => {
    t.match(
      view("host_patch", { name_label: "a", name_description: "b", size: "3" }),
      { name: "a", description: "b", size: 3, applied: false },
    );
  },
);

t.test("a pool patch is found by its reference", async (t) => {
  const links = new RecordLinks(withFields(samplePool, "pool_patch", 1, {}));
  t.equal(links.id("pool_patch", ref("pool_patch", 1)), ref("pool_patch", 1));
});

t.test("a PCI device", async (t) => {
  t.same(
    view("PCI", {
      class_name: "VGA",
      device_name: "a card",
      pci_id: "0000:04:00.0",
      host: ref("host", 1),
    }),
    {
      class_name: "VGA",
      device_name: "a card",
      pci_id: "0000:04:00.0",
      $host: uuid("host", 1),
    },
  );
});

t.test("graphics cards and their shares", async (t) => {
  t.same(
    view(
      "PGPU",
      {
        dom0_access: "enabled",
        enabled_VGPU_types: [ref("VGPU_type", 1)],
        supported_VGPU_types: [ref("VGPU_type", 1)],
        supported_VGPU_max_capacities: {
          [ref("VGPU_type", 1)]: "4",
          "OpaqueRef:lost": "2",
        },
        is_system_display_device: true,
        resident_VGPUs: [ref("VGPU", 1)],
        host: ref("host", 1),
        GPU_group: ref("GPU_group", 1),
        PCI: ref("PCI", 1),
      },
      gpus,
    ),
    {
      dom0Access: "enabled",
      enabledVgpuTypes: [uuid("VGPU_type", 1)],
      supportedVgpuTypes: [uuid("VGPU_type", 1)],
      supportedVgpuMaxCapacities: { [uuid("VGPU_type", 1)]: 4 },
      isSystemDisplayDevice: true,
      vgpus: [uuid("VGPU", 1)],
      $host: uuid("host", 1),
      gpuGroup: uuid("GPU_group", 1),
      pci: uuid("PCI", 1),
    },
  );
  t.same(
    view(
      "VGPU",
      {
        currently_attached: true,
        device: "0",
        other_config: { a: "b" },
        GPU_group: ref("GPU_group", 1),
        resident_on: ref("PGPU", 1),
        type: ref("VGPU_type", 1),
        VM: ref("VM", 3),
      },
      gpus,
    ),
    {
      currentlyAttached: true,
      device: "0",
      otherConfig: { a: "b" },
      gpuGroup: uuid("GPU_group", 1),
      resident_on: uuid("PGPU", 1),
      vgpuType: uuid("VGPU_type", 1),
      vm: uuid("VM", 3),
    },
  );
});

t.test("groups of cards and ways to share them", async (t) => {
  t.match(
    view(
      "GPU_group",
      {
        name_label: "Group of cards",
        name_description: "Any",
        allocation_algorithm: "depth_first",
        GPU_types: ["10de/0ff2"],
        PGPUs: [ref("PGPU", 1)],
        VGPUs: [ref("VGPU", 1)],
        other_config: {},
      },
      gpus,
    ),
    {
      name_label: "Group of cards",
      name_description: "Any",
      allocation: "depth_first",
      gpuTypes: ["10de/0ff2"],
      pgpus: [uuid("PGPU", 1)],
      vgpus: [uuid("VGPU", 1)],
      enabledVgpuTypes: [],
      supportedVgpuTypes: [],
      otherConfig: {},
    },
  );
  t.match(
    view("VGPU_type", {
      model_name: "K100",
      vendor_name: "a vendor",
      framebuffer_size: "268435456",
      max_heads: "2",
      max_resolution_x: "1920",
      max_resolution_y: "1200",
      experimental: false,
    }),
    {
      modelName: "K100",
      vendorName: "a vendor",
      framebufferSize: 268435456,
      maxHeads: 2,
      maxResolutionX: 1920,
      maxResolutionY: 1200,
      experimental: false,
    },
  );
});

t.test("a TPM shows its VM and none of its contents", async (t) => {
  t.same(view("VTPM", { VM: ref("VM", 3), contents: "made-up" }), {
    vm: uuid("VM", 3),
  });
});

t.test("USB devices, of hosts and of VMs", async (t) => {
  t.same(
    view(
      "PUSB",
      {
        description: "a stick",
        passthrough_enabled: true,
        host: ref("host", 1),
        USB_group: ref("USB_group", 1),
      },
      usbs,
    ),
    {
      description: "a stick",
      passthroughEnabled: true,
      host: uuid("host", 1),
      usbGroup: uuid("USB_group", 1),
    },
  );
  t.same(
    view(
      "VUSB",
      {
        currently_attached: true,
        VM: ref("VM", 3),
        USB_group: ref("USB_group", 1),
      },
      usbs,
    ),
    {
      currentlyAttached: true,
      vm: uuid("VM", 3),
      usbGroup: uuid("USB_group", 1),
    },
  );
  t.same(
    view(
      "USB_group",
      {
        name_label: "Group of sticks",
        name_description: "Any",
        PUSBs: [ref("PUSB", 1)],
        VUSBs: [ref("VUSB", 1)],
      },
      usbs,
    ),
    {
      name_label: "Group of sticks",
      name_description: "Any",
      otherConfig: {},
      PUSB: [uuid("PUSB", 1)],
      VUSB: [uuid("VUSB", 1)],
    },
  );
});
