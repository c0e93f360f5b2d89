import { Type, type Static } from "typebox";
import { byteSize as size } from "./byte-size.js";

const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(type: T) =>
  Type.Optional(Type.Union([type, Type.Null()]));

const xenStoreData = Type.Record(
  Type.String(),
  Type.Union([Type.String(), Type.Null()]),
  {
    description:
      "Data for the guest in XenStore, by key such as vm-data/name; null removes a key.",
  },
);

/** Settings of a VM that exists or is being created. Null removes an entry. */
export const settingParameters = {
  name_label: Type.Optional(Type.String({ description: "Name of the VM." })),
  name_description: Type.Optional(
    Type.String({ description: "Description of the VM." }),
  ),
  notes: orNull(
    Type.String({ maxLength: 2048, description: "Notes on the VM." }),
  ),
  tags: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 1000,
      description: "All tags of the VM.",
    }),
  ),
  auto_poweron: Type.Optional(
    Type.Boolean({
      description: "Whether the VM is started when its host starts.",
    }),
  ),
  high_availability: Type.Optional(
    Type.Enum(["", "best-effort", "restart"], {
      description:
        "Restart by high availability (HA): none (empty), best-effort or restart.",
    }),
  ),
  startDelay: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: "Delay of the start after the VMs before it, in seconds.",
    }),
  ),
  affinityHost: orNull(
    Type.String({
      description: "Id of the host on which the VM is started if possible.",
    }),
  ),
  suspendSr: orNull(
    Type.String({
      description:
        "Id of the SR to which the memory is written when the VM is suspended.",
    }),
  ),
  CPUs: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1024,
      description:
        "Number of virtual CPUs. Takes effect immediately, also on a running VM.",
    }),
  ),
  cpusMax: Type.Optional(
    Type.Union(
      [
        Type.Integer({ minimum: 1, maximum: 1024 }),
        Type.String({ pattern: "^[1-9][0-9]{0,3}$" }),
      ],
      {
        description:
          "Maximum number of virtual CPUs. Takes effect while the VM is halted.",
      },
    ),
  ),
  coresPerSocket: orNull(
    Type.Union(
      [
        Type.Integer({ minimum: 0, maximum: 1024 }),
        Type.String({ pattern: "^[0-9]{0,4}$" }),
      ],
      {
        description:
          "Cores per socket: virtual CPUs of each virtual socket (CPU topology).",
      },
    ),
  ),
  cpuWeight: orNull(
    Type.Integer({
      minimum: 0,
      maximum: 65535,
      description: "Weight of the VM in the distribution of CPU time.",
    }),
  ),
  cpuCap: orNull(
    Type.Integer({
      minimum: 0,
      maximum: 65535,
      description: "Limit of the CPU time, in percent of one CPU; 0: none.",
    }),
  ),
  cpuMask: Type.Optional(
    Type.Array(Type.Integer({ minimum: 0, maximum: 4095 }), {
      description:
        "Numbers of the physical CPUs on which the VM may run; empty: all.",
      maxItems: 4096,
    }),
  ),
  memory: Type.Optional(size),
  memoryMin: Type.Optional(size),
  memoryMax: Type.Optional(size),
  memoryStaticMax: Type.Optional(size),
  PV_args: Type.Optional(
    Type.String({
      description: "Kernel command line of a paravirtualized VM.",
    }),
  ),
  vga: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 32,
      description: "Emulated graphics card, such as std or cirrus.",
    }),
  ),
  videoram: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1024,
      description: "Memory of the graphics card, in MiB.",
    }),
  ),
  hasVendorDevice: Type.Optional(
    Type.Boolean({
      description:
        "Whether the VM gets the device by which Windows Update installs guest drivers.",
    }),
  ),
  expNestedHvm: Type.Optional(
    Type.Boolean({
      description:
        "Whether nested virtualization is enabled, on hosts without the setting nestedVirt.",
    }),
  ),
  nestedVirt: Type.Optional(
    Type.Boolean({ description: "Whether nested virtualization is enabled." }),
  ),
  secureBoot: Type.Optional(
    Type.Boolean({ description: "Whether UEFI Secure Boot is enabled." }),
  ),
  viridian: Type.Optional(
    Type.Boolean({
      description:
        "Whether Hyper-V enlightenments (viridian) are offered to the guest.",
    }),
  ),
  nicType: orNull(
    Type.String({
      maxLength: 32,
      description: "Emulated network card, such as e1000 or rtl8139.",
    }),
  ),
  hvmBootFirmware: orNull(
    Type.String({ maxLength: 32, description: "Firmware: bios or uefi." }),
  ),
  virtualizationMode: Type.Optional(
    Type.Enum(["hvm", "pv", "pvh", "pv_in_pvh"], {
      description: "XAPI's domain type.",
    }),
  ),
  uefiMode: Type.Optional(
    Type.Enum(["setup", "user"], {
      description:
        "setup: Secure Boot keys can be changed; user: they are enforced.",
    }),
  ),
  blockedOperations: Type.Optional(
    Type.Record(
      Type.String(),
      Type.Union([Type.String(), Type.Boolean(), Type.Null()]),
      {
        description:
          "Reason for which each operation (by XAPI's name) is blocked; null unblocks it.",
      },
    ),
  ),
  xenStoreData: orNull(xenStoreData),
  creation: Type.Optional(
    Type.Object(
      { user: Type.Optional(Type.String()) },
      { description: "Id of the user who is recorded as the creator." },
    ),
  ),
  resourceSet: orNull(
    Type.String({
      description:
        "Id of a resource set. Users who are not administrators may name only sets that they may use.",
    }),
  ),
  share: Type.Optional(
    Type.Boolean({
      description:
        "Whether all subjects of the resource set get rights on the VM. Administrators only.",
    }),
  ),
};

export type VmSettings = Static<
  ReturnType<typeof Type.Object<typeof settingParameters>>
>;

export const id = Type.String({ minLength: 1, description: "Id of a VM." });
