import type { BackupDescription } from "@xo-server/backup";
import { XoError } from "@xo-server/model";

type XapiRecord = Readonly<Record<string, unknown>>;

/** Parameters of a restore. Ids are those that clients use. */
export interface RestoreRequest {
  /** `<repository>/<backup>` */
  readonly id: string;
  /** SR of the disks. */
  readonly sr: string;
  /** SR by name of the disk; default: `sr`. */
  readonly srs: Readonly<Record<string, string>>;
  /** Names of disks; absent: all. */
  readonly disks?: readonly string[] | undefined;
  /**
   * Networks by the device of the VIF; null: no VIF. Default: the network with the
   * same UUID, or with the same name.
   */
  readonly networks: Readonly<Record<string, string | null>>;
  readonly name?: string | undefined;
  /** Absent: true if the VM that was backed up still exists. */
  readonly newMacs?: boolean | undefined;
  readonly start: boolean;
  /** Whether disks begin as clones of snapshots of this VM that are known backups. */
  readonly differential: boolean;
}

export interface RestorePlanDisk {
  /** Name in the backup. */
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly label: string;
  readonly description: string;
  readonly userdevice: string;
  readonly bootable: boolean;
  readonly mode: "RO" | "RW";
}

export interface PlannedVif {
  readonly device: string;
  readonly mac: string;
  readonly mtu: number;
  readonly network: { readonly uuid: string; readonly name_label: string };
  readonly record: XapiRecord;
}

/** The VM of a backup with its disks and devices. */
export interface VmPlan {
  readonly name: string;
  /** UUID of the VM that was backed up. */
  readonly uuid: string;
  /** Arguments of VM.create. */
  readonly vm: XapiRecord;
  readonly biosStrings: Readonly<Record<string, string>>;
  readonly disks: readonly RestorePlanDisk[];
  readonly vifs: readonly PlannedVif[];
  /** `userdevice` of CD drives, which are created empty. */
  readonly cdDrives: readonly string[];
  /** Contents, base64; empty: they were not read. */
  readonly vtpms: readonly string[];
}

/**
 * Fields that VM.create accepts and that mean the same in another pool, with
 * defaults for records of other versions of XAPI; undefined: the field is left out
 * then.
 */
export const VM_FIELDS: XapiRecord = {
  name_label: "",
  name_description: "",
  user_version: "1",
  memory_static_max: undefined,
  memory_dynamic_max: undefined,
  memory_dynamic_min: undefined,
  memory_static_min: undefined,
  VCPUs_params: {},
  VCPUs_max: "1",
  VCPUs_at_startup: "1",
  actions_after_softreboot: undefined,
  actions_after_shutdown: "destroy",
  actions_after_reboot: "restart",
  actions_after_crash: "restart",
  PV_bootloader: "",
  PV_kernel: "",
  PV_ramdisk: "",
  PV_args: "",
  PV_bootloader_args: "",
  PV_legacy_args: "",
  HVM_boot_policy: "BIOS order",
  HVM_boot_params: { order: "cdn" },
  HVM_shadow_multiplier: 1,
  platform: {},
  PCI_bus: "",
  other_config: {},
  recommendations: "",
  xenstore_data: {},
  tags: [],
  start_delay: "0",
  shutdown_delay: "0",
  order: "0",
  version: "0",
  generation_id: "",
  hardware_platform_version: "0",
  has_vendor_device: false,
  reference_label: undefined,
  domain_type: undefined,
  NVRAM: undefined,
};

/**
 * Plans the objects to create from a manifest.
 * @throws XoError INVALID_PARAMETERS: the backup is not of a VM; NO_SUCH_OBJECT: an
 * unknown disk
 */
export function planVm(
  { id, properties, disks }: BackupDescription,
  { disks: selected }: Pick<RestoreRequest, "disks">,
): VmPlan {
  const records = asRecord(properties["records"]);
  const vm = asRecord(records?.["VM"]);
  if (properties["type"] !== "vm" || records === undefined || vm === undefined)
    throw new XoError("INVALID_PARAMETERS", {
      reason: `backup ${id} is not a backup of a VM`,
    });
  for (const name of selected ?? [])
    if (!disks.some((disk) => disk.name === name))
      throw new XoError("NO_SUCH_OBJECT", {
        type: "disk of the backup",
        id: name,
      });
  const vdis = valuesOf(records["VDIs"]);
  const chosen = disks.filter(
    ({ name }) => selected === undefined || selected.includes(name),
  );
  return {
    name: text(vm["name_label"]),
    uuid: text(asRecord(properties["vm"])?.["uuid"] ?? vm["uuid"]),
    vm: Object.fromEntries(
      Object.entries(VM_FIELDS)
        .map(([field, missing]) => [field, vm[field] ?? missing] as const)
        .filter(([, value]) => value !== undefined),
    ),
    biosStrings: texts(vm["bios_strings"]),
    disks: chosen.map((disk) => planDisk(disk, vdis)),
    vifs: planVifs(records),
    cdDrives: valuesOf(records["VBDs"])
      .filter(({ type }) => type === "CD")
      .map(({ userdevice }) => text(userdevice)),
    vtpms: valuesOf(records["VTPMs"]).map(({ contents }) => text(contents)),
  };
}

function planDisk(
  { name, size, properties }: BackupDescription["disks"][number],
  vdis: readonly XapiRecord[],
): RestorePlanDisk {
  const vdi = vdis.find(({ uuid }) => uuid === (properties["vdi"] ?? name));
  return {
    name,
    size,
    label: text(properties["name_label"] ?? vdi?.["name_label"]),
    description: text(vdi?.["name_description"]),
    userdevice: text(properties["userdevice"] ?? properties["position"]),
    bootable: properties["bootable"] === true,
    mode: properties["mode"] === "RO" ? "RO" : "RW",
  };
}

function planVifs(records: XapiRecord): PlannedVif[] {
  const networks = asRecord(records["networks"]) ?? {};
  return valuesOf(records["VIFs"]).map((record) => {
    const network = asRecord(networks[text(record["network"])]);
    return {
      device: text(record["device"]),
      mac: text(record["MAC"]),
      mtu: Number(record["MTU"] ?? 1500),
      network: {
        uuid: text(network?.["uuid"]),
        name_label: text(network?.["name_label"]),
      },
      record,
    };
  });
}

function asRecord(value: unknown): XapiRecord | undefined {
  return typeof value === "object" && value !== null
    ? (value as XapiRecord)
    : undefined;
}

function valuesOf(value: unknown): readonly XapiRecord[] {
  return Object.values(asRecord(value) ?? {})
    .map(asRecord)
    .filter((one) => one !== undefined);
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function texts(value: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries(asRecord(value) ?? {}).filter(
      (entry): entry is [string, string] => typeof entry[1] === "string",
    ),
  );
}
