import { Type, type Static } from "typebox";
import { byteSize as size } from "./byte-size.js";
import { settingParameters } from "./vm-parameters.js";

const optionalId = Type.Optional(Type.String({ minLength: 1 }));
const open = { additionalProperties: true };
const position = Type.Optional(
  Type.Union([
    Type.String({ minLength: 1, maxLength: 8 }),
    Type.Integer({ minimum: 0, maximum: 255 }),
  ]),
);

const disk = Type.Object(
  {
    userdevice: position,
    destroy: Type.Optional(Type.Boolean()),
    name_label: Type.Optional(Type.String()),
    name_description: Type.Optional(Type.String()),
    size: Type.Optional(size),
    SR: optionalId,
    $SR: optionalId,
    sr: optionalId,
  },
  {
    ...open,
    description:
      "With `userdevice`, changes the disk of the template at this position: name, SR, size, or (`destroy`) removes it. Without, adds a disk.",
  },
);

const addresses = Type.Optional(
  Type.Array(Type.String({ maxLength: 64 }), { maxItems: 256 }),
);
const vif = Type.Object(
  {
    network: optionalId,
    mac: Type.Optional(Type.String({ maxLength: 32 })),
    device: position,
    destroy: Type.Optional(Type.Boolean()),
    mtu: Type.Optional(Type.Integer({ minimum: 68, maximum: 65535 })),
    allowedIpv4Addresses: addresses,
    allowedIpv6Addresses: addresses,
    ipv4_allowed: addresses,
    ipv6_allowed: addresses,
  },
  open,
);
export type VifInput = Static<typeof vif>;

const config = Type.Optional(
  Type.Union([Type.String({ maxLength: 2 ** 22 }), Type.Null()]),
);

/** Unknown parameters are accepted: Terraform, the page and scripts of Xen Orchestra send more than is used. */
export const createParameters = Type.Object(
  {
    ...settingParameters,
    name_label: Type.String({ description: "Name of the new VM." }),
    template: Type.String({
      minLength: 1,
      description: "Id; of a default template also its uuid.",
    }),
    pool: Type.Optional(
      Type.String({ minLength: 1, description: "Id of the template's pool." }),
    ),
    clone: Type.Optional(
      Type.Boolean({
        description:
          "Shares the template's data where the storage can (default), or copies all of it.",
      }),
    ),
    bootAfterCreate: Type.Optional(Type.Boolean()),
    VDIs: Type.Optional(Type.Array(disk, { maxItems: 255 })),
    existingDisks: Type.Optional(Type.Record(Type.String(), disk)),
    VIFs: Type.Optional(
      Type.Array(vif, {
        maxItems: 64,
        description: "Replace the VIFs of the template.",
      }),
    ),
    keepVIFs: Type.Optional(
      Type.Boolean({
        description:
          "VIFs are added to the template's, or replace the one with the same `device`.",
      }),
    ),
    installation: Type.Optional(
      Type.Object({
        method: Type.Enum(["cdrom", "cd", "network"]),
        repository: Type.Optional(
          Type.String({
            description: 'Id of an ISO image, a URL, or "pxe".',
          }),
        ),
      }),
    ),
    cloudConfig: config,
    networkConfig: config,
    destroyCloudConfigVdiAfterBoot: Type.Optional(Type.Boolean()),
    copyHostBiosStrings: Type.Optional(Type.Boolean()),
    createVtpm: Type.Optional(Type.Boolean()),
    vgpuType: optionalId,
    gpuGroup: optionalId,
    pv_args: Type.Optional(Type.String()),
    coreOs: Type.Optional(Type.Boolean()),
    acls: Type.Optional(Type.Array(Type.Object({}, open), { maxItems: 1_000 })),
  },
  open,
);
export type CreateParameters = Static<typeof createParameters>;
