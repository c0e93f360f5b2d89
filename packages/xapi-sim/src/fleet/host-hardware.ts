import type { FleetBuilder, DraftObject } from "./fleet-builder.js";
import type { FleetProfile } from "./profiles.js";
import { cpuFeatures, cpuFlags } from "./guest-constants.js";

const pciModels: readonly (readonly [string, string, string, string])[] = [
  ["Host bridge", "Intel Corporation", "Xeon Scalable Memory Controller", ""],
  [
    "PCI bridge",
    "Intel Corporation",
    "C620 Series Chipset Root Port",
    "pcieport",
  ],
  [
    "System peripheral",
    "Intel Corporation",
    "Sky Lake-E CBDMA Registers",
    "ioatdma",
  ],
  [
    "ISA bridge",
    "Intel Corporation",
    "C621 Series Chipset LPC/eSPI Controller",
    "",
  ],
  [
    "USB controller",
    "Intel Corporation",
    "C620 Series Chipset USB 3.0 xHCI Controller",
    "xhci_hcd",
  ],
  [
    "SATA controller",
    "Intel Corporation",
    "C620 Series Chipset SATA Controller [AHCI mode]",
    "ahci",
  ],
  [
    "Non-Volatile memory controller",
    "Samsung Electronics Co Ltd",
    "NVMe SSD Controller PM173X",
    "nvme",
  ],
  [
    "RAID bus controller",
    "Broadcom / LSI",
    "MegaRAID Tri-Mode SAS3508",
    "megaraid_sas",
  ],
];
const nicModel = [
  "Ethernet controller",
  "Intel Corporation",
  "Ethernet Controller X710 for 10GbE SFP+",
  "i40e",
] as const;
const gpuModel = [
  "3D controller",
  "NVIDIA Corporation",
  "GA107GL [A16]",
  "nvidia",
] as const;

/** The processors of a host: one host_cpu a thread. */
export function addProcessors(
  builder: FleetBuilder,
  host: DraftObject,
  count: number,
): void {
  const { random } = builder;
  for (let number = 0; number < count; number++) {
    builder.add("host_cpu", {
      host: host.ref,
      number,
      vendor: "GenuineIntel",
      speed: 2600,
      modelname: "Intel(R) Xeon(R) Gold 6348 CPU @ 2.60GHz",
      family: 6,
      model: 106,
      stepping: "6",
      flags: cpuFlags,
      features: cpuFeatures,
      utilisation: Math.round(random.next() * 1e6) / 1e6,
    });
  }
}

/** The PCI devices of a host. Answers those of the network interfaces, and of the GPU where there is one. */
export function addPciDevices(
  builder: FleetBuilder,
  host: DraftObject,
  profile: FleetProfile,
): { nics: readonly DraftObject[]; gpu: DraftObject | undefined } {
  const add = (
    slot: number,
    model: readonly [string, string, string, string],
  ) => builder.add("PCI", pciFields(host.ref, slot, model));
  const nics: DraftObject[] = [];
  for (let slot = 0; slot < profile.pciPerHost; slot++) {
    if (slot < profile.nicsPerHost) nics.push(add(slot, nicModel));
    else add(slot, pciModels[slot % pciModels.length]!);
  }
  const gpu = builder.random.chance(profile.gpuShare)
    ? add(profile.pciPerHost, gpuModel)
    : undefined;
  return { nics, gpu };
}

function pciFields(
  host: string,
  slot: number,
  [class_name, vendor_name, device_name, driver_name]: readonly [
    string,
    string,
    string,
    string,
  ],
) {
  const hex = (value: number) => value.toString(16).padStart(2, "0");
  return {
    class_id: hex(2 + (slot % 12)),
    class_name,
    vendor_id: vendor_name.startsWith("NVIDIA") ? "10de" : "8086",
    vendor_name,
    device_id: `15${hex(slot)}`,
    device_name,
    host,
    pci_id: `0000:${hex(slot >> 3)}:${hex(slot & 7)}.0`,
    subsystem_vendor_id: "1028",
    subsystem_vendor_name: "Dell",
    subsystem_device_id: `1f${hex(slot)}`,
    subsystem_device_name: device_name,
    driver_name,
  };
}

const driverNames = [
  "avago-megaraid-sas",
  "broadcom-bnxt-en",
  "broadcom-mpt3sas",
  "chelsio-cxgb4",
  "cisco-enic",
  "cisco-fnic",
  "emulex-lpfc",
  "intel-e1000e",
  "intel-fm10k",
  "intel-i40e",
  "intel-ice",
  "intel-igb",
  "intel-igc",
  "intel-ixgbe",
  "mellanox-mlnxen",
  "microsemi-aacraid",
  "microsemi-smartpqi",
  "pensando-ionic",
  "qlogic-fastlinq",
  "qlogic-qla2xxx",
];

/** The driver packages that a host knows, each with its one variant. */
export function addDrivers(builder: FleetBuilder, host: DraftObject): void {
  for (const name of driverNames) {
    const present = name === "intel-i40e" || name === "avago-megaraid-sas";
    const driver = builder.add("Host_driver", {
      host: host.ref,
      name,
      friendly_name: name,
      type: /megaraid|mpt3|fnic|lpfc|aacraid|smartpqi|qla2/.test(name)
        ? "storage"
        : "network",
      description: name,
      info: name,
    });
    const variant = builder.add("Driver_variant", {
      name: "generic",
      driver: driver.ref,
      version: "1.2",
      hardware_present: present,
      priority: 100,
      status: "production",
    });
    if (present) {
      driver.record["active_variant"] = variant.ref;
      driver.record["selected_variant"] = variant.ref;
    }
  }
}

/** The group of all GPUs of the fleet and the one type they serve, made with the first of them. */
export class GpuPool {
  readonly #builder: FleetBuilder;
  #group: DraftObject | undefined;
  #type: DraftObject | undefined;

  constructor(builder: FleetBuilder) {
    this.#builder = builder;
  }

  add(host: DraftObject, pci: DraftObject): void {
    const type = (this.#type ??= this.#builder.add("VGPU_type", {
      vendor_name: "",
      model_name: "passthrough",
      implementation: "passthrough",
      identifier: "0001:0000,0x0000,0x0000",
    }));
    const group = (this.#group ??= this.#builder.add("GPU_group", {
      name_label: "Group of NVIDIA Corporation GA107GL [A16] GPUs",
      GPU_types: ["10de/25b6"],
      supported_VGPU_types: [type.ref],
      enabled_VGPU_types: [type.ref],
    }));
    this.#builder.add("PGPU", {
      PCI: pci.ref,
      GPU_group: group.ref,
      host: host.ref,
      supported_VGPU_types: [type.ref],
      enabled_VGPU_types: [type.ref],
      supported_VGPU_max_capacities: { [type.ref]: 1 },
    });
  }
}
