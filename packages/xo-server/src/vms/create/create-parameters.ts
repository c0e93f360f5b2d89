import { Type, type Static } from "typebox";
import { byteSize as size } from "../parameters/byte-size.js";
import { settingParameters } from "../parameters/vm-parameters.js";

const optionalId = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, description }));
const open = { additionalProperties: true };
const position = Type.Optional(
  Type.Union(
    [
      Type.String({ minLength: 1, maxLength: 8 }),
      Type.Integer({ minimum: 0, maximum: 255 }),
    ],
    { description: "Position in the VM or template." },
  ),
);

const disk = Type.Object(
  {
    userdevice: position,
    destroy: Type.Optional(
      Type.Boolean({
        description: "Whether the disk of the template is removed.",
      }),
    ),
    name_label: Type.Optional(
      Type.String({ description: "Name of the disk." }),
    ),
    name_description: Type.Optional(
      Type.String({ description: "Description of the disk." }),
    ),
    size: Type.Optional(size),
    SR: optionalId("Id of the SR of the disk."),
    $SR: optionalId("Same as SR."),
    sr: optionalId("Same as SR."),
  },
  {
    ...open,
    description:
      "With `userdevice`: changes of the disk of the template at this position (name, SR, size), or its removal (`destroy`). Without: a disk to add. Templates that only describe their disks (`template_info.disks`) create exactly the disks of this list.",
  },
);

const addresses = Type.Optional(
  Type.Array(Type.String({ maxLength: 64 }), {
    maxItems: 256,
    description: "Addresses that the VM may use, in the locking mode `locked`.",
  }),
);
const vif = Type.Object(
  {
    network: optionalId("Id of the network."),
    mac: Type.Optional(
      Type.String({
        maxLength: 32,
        description: "MAC address. Default: a random unused address.",
      }),
    ),
    device: position,
    destroy: Type.Optional(
      Type.Boolean({
        description: "Whether the VIF of the template is removed.",
      }),
    ),
    mtu: Type.Optional(
      Type.Integer({
        minimum: 68,
        maximum: 65535,
        description:
          "Maximum transmission unit (MTU), in bytes. Default: that of the network.",
      }),
    ),
    allowedIpv4Addresses: addresses,
    allowedIpv6Addresses: addresses,
    ipv4_allowed: addresses,
    ipv6_allowed: addresses,
  },
  open,
);
export type VifInput = Static<typeof vif>;

const config = (description: string) =>
  Type.Optional(
    Type.Union([Type.String({ maxLength: 2 ** 22 }), Type.Null()], {
      description,
    }),
  );

/** Unknown parameters are accepted: Terraform, the page and scripts of Xen Orchestra send more than is used. */
export const createParameters = Type.Object(
  {
    ...settingParameters,
    name_label: Type.String({ description: "Name of the new VM." }),
    template: Type.String({
      minLength: 1,
      description: "Id of the template; of a default template also its UUID.",
    }),
    pool: Type.Optional(
      Type.String({ minLength: 1, description: "Id of the template's pool." }),
    ),
    clone: Type.Optional(
      Type.Boolean({
        description:
          "true: fast clone, which shares data with the template if the storage supports it; false: full copy. Default: true.",
      }),
    ),
    bootAfterCreate: Type.Optional(
      Type.Boolean({
        description:
          "Whether the VM is started after it was created. Default: false.",
      }),
    ),
    VDIs: Type.Optional(
      Type.Array(disk, {
        maxItems: 255,
        description: "Disks to add to those of the template, or to change.",
      }),
    ),
    existingDisks: Type.Optional(
      Type.Record(Type.String(), disk, {
        description: "Changes of the disks of the template, by their position.",
      }),
    ),
    VIFs: Type.Optional(
      Type.Array(vif, {
        maxItems: 64,
        description: "VIFs of the VM, which replace those of the template.",
      }),
    ),
    keepVIFs: Type.Optional(
      Type.Boolean({
        description:
          "Keeps the VIFs of the template: `VIFs` are added, or replace the one with the same `device`.",
      }),
    ),
    installation: Type.Optional(
      Type.Object(
        {
          method: Type.Enum(["cdrom", "cd", "network"], {
            description:
              "cdrom: from an ISO image; network: by PXE or from a URL. cd is the same as cdrom.",
          }),
          repository: Type.Optional(
            Type.String({
              description: 'Id of an ISO image, a URL, or "pxe".',
            }),
          ),
        },
        { description: "Where the guest is installed from." },
      ),
    ),
    cloudConfig: config("User data for cloud-init."),
    networkConfig: config("Network configuration for cloud-init."),
    destroyCloudConfigVdiAfterBoot: Type.Optional(
      Type.Boolean({
        description:
          "Whether the config drive is deleted after the first start. Requires bootAfterCreate.",
      }),
    ),
    copyHostBiosStrings: Type.Optional(
      Type.Boolean({
        description: "Whether the VM gets the BIOS strings of its host.",
      }),
    ),
    createVtpm: Type.Optional(
      Type.Boolean({ description: "Whether a virtual TPM (VTPM) is created." }),
    ),
    vgpuType: optionalId("Id of the type of a vGPU to create."),
    gpuGroup: optionalId("Id of the GPU group of the vGPU."),
    pv_args: Type.Optional(Type.String({ description: "Same as PV_args." })),
    coreOs: Type.Optional(
      Type.Boolean({
        description: "Ignored. Clients of Xen Orchestra send it.",
      }),
    ),
    acls: Type.Optional(
      Type.Array(Type.Object({}, open), {
        maxItems: 1_000,
        description: "Ignored. Clients of Xen Orchestra send it.",
      }),
    ),
  },
  open,
);
export type CreateParameters = Static<typeof createParameters>;
