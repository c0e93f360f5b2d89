import { Type, type Static } from "typebox";
import { byteSize as size } from "./byte-size.js";

const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(type: T) =>
  Type.Optional(Type.Union([type, Type.Null()]));

const reasons = Type.Record(
  Type.String(),
  Type.Union([Type.String(), Type.Null()]),
);

/** Settings of a VM that exists or is being created. Null removes an entry. */
export const settingParameters = {
  name_label: Type.Optional(Type.String()),
  name_description: Type.Optional(Type.String()),
  notes: orNull(Type.String({ maxLength: 2048 })),
  tags: Type.Optional(Type.Array(Type.String(), { maxItems: 1000 })),
  auto_poweron: Type.Optional(
    Type.Boolean({ description: "Whether it is started with its host." }),
  ),
  high_availability: Type.Optional(Type.Enum(["", "best-effort", "restart"])),
  startDelay: Type.Optional(
    Type.Integer({ minimum: 0, description: "In seconds." }),
  ),
  affinityHost: orNull(
    Type.String({
      description: "Id of the host on which it is started preferably.",
    }),
  ),
  suspendSr: orNull(
    Type.String({
      description: "Id of the SR for its memory when it is suspended.",
    }),
  ),
  CPUs: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1024,
      description: "Virtual CPUs; those of a running VM change immediately.",
    }),
  ),
  cpusMax: Type.Optional(
    Type.Union([
      Type.Integer({ minimum: 1, maximum: 1024 }),
      Type.String({ pattern: "^[1-9][0-9]{0,3}$" }),
    ]),
  ),
  coresPerSocket: orNull(
    Type.Union([
      Type.Integer({ minimum: 0, maximum: 1024 }),
      Type.String({ pattern: "^[0-9]{0,4}$" }),
    ]),
  ),
  cpuWeight: orNull(Type.Integer({ minimum: 0, maximum: 65535 })),
  cpuCap: orNull(Type.Integer({ minimum: 0, maximum: 65535 })),
  cpuMask: Type.Optional(
    Type.Array(Type.Integer({ minimum: 0, maximum: 4095 }), {
      description: "Physical CPUs that it may run on; empty: any.",
      maxItems: 4096,
    }),
  ),
  memory: Type.Optional(size),
  memoryMin: Type.Optional(size),
  memoryMax: Type.Optional(size),
  memoryStaticMax: Type.Optional(size),
  PV_args: Type.Optional(Type.String()),
  vga: Type.Optional(Type.String({ minLength: 1, maxLength: 32 })),
  videoram: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1024, description: "MiB." }),
  ),
  hasVendorDevice: Type.Optional(Type.Boolean()),
  expNestedHvm: Type.Optional(Type.Boolean()),
  nestedVirt: Type.Optional(Type.Boolean()),
  secureBoot: Type.Optional(Type.Boolean()),
  viridian: Type.Optional(Type.Boolean()),
  nicType: orNull(Type.String({ maxLength: 32 })),
  hvmBootFirmware: orNull(Type.String({ maxLength: 32 })),
  virtualizationMode: Type.Optional(
    Type.Enum(["hvm", "pv", "pvh", "pv_in_pvh"]),
  ),
  uefiMode: Type.Optional(Type.Enum(["setup", "user"])),
  blockedOperations: Type.Optional(
    Type.Record(
      Type.String(),
      Type.Union([Type.String(), Type.Boolean(), Type.Null()]),
      {
        description:
          "Reasons by XAPI's name of the operation; null unblocks an operation.",
      },
    ),
  ),
  xenStoreData: orNull(reasons),
  creation: Type.Optional(Type.Object({ user: Type.Optional(Type.String()) })),
  resourceSet: orNull(
    Type.String({
      description:
        "Id of a resource set. Users without admin rights may name only sets that they may use.",
    }),
  ),
  share: Type.Optional(
    Type.Boolean({
      description:
        "Grants all subjects of its resource set rights on it. Administrators only.",
    }),
  ),
};

export type VmSettings = Static<
  ReturnType<typeof Type.Object<typeof settingParameters>>
>;

export const id = Type.String({ minLength: 1, description: "Id of a VM." });
