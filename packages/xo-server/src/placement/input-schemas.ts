import { Type } from "typebox";
import { id } from "./schemas.js";

/* Input of the planner, as clients send it: see the types of the placement package. */

const optional = Type.Optional;

/** An action to execute; other members of a planned action are ignored. */
export const ActionInput = Type.Object(
  {
    kind: Type.Enum(["start", "migrate"]),
    vm: id("Id of the VM."),
    from: optional(id("Id of the source host of a migration.")),
    to: id("Id of the target host."),
    order: optional(
      Type.Number({ minimum: 0, description: "XAPI's start order of the VM." }),
    ),
    after: optional(
      Type.Array(Type.Integer({ minimum: 0 }), {
        maxItems: 10_000,
        description:
          "Indices of actions that must have ended before this one begins.",
      }),
    ),
    purpose: optional(Type.String({ maxLength: 32, description: "Ignored." })),
    score: optional(
      Type.Object({}, { additionalProperties: true, description: "Ignored." }),
    ),
  },
  { additionalProperties: false },
);

const devices = Type.Array(
  Type.Object({
    kind: id("For example the id of a GPU group."),
    count: Type.Integer({ minimum: 0, description: "Number of devices." }),
  }),
  { maxItems: 256, description: "GPUs, SR-IOV functions and similar devices." },
);
const many = (description: string) =>
  optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
      maxItems: 4096,
      description,
    }),
  );
const amount = (description: string) =>
  optional(Type.Number({ minimum: 0, description }));

/** A hypothetical change. Members that are not given stay as they are. */
export const ChangeInput = Type.Union([
  Type.Object({
    kind: Type.Enum(["host-down", "host-up"]),
    host: id("Id of the host."),
  }),
  Type.Object({
    kind: Type.Enum(["vm-removed"]),
    vm: id("Id of the VM."),
  }),
  Type.Object({
    kind: Type.Enum(["host"]),
    host: Type.Object({
      id: id("Id of a host of the pool, or of a new one."),
      state: optional(Type.Enum(["up", "disabled", "down"])),
      memory: amount("Bytes available to VMs."),
      cores: amount("Number of physical CPUs, as XAPI counts them."),
      load: amount("Number of cores in use."),
      networks: many("Ids of networks that VMs on it can use."),
      srs: many("Ids of SRs that are connected to it."),
      devices: optional(devices),
      cpu: optional(id("CPU compatibility class, such as the vendor.")),
    }),
  }),
  Type.Object({
    kind: Type.Enum(["vm"]),
    vm: Type.Object({
      id: id("Id of a VM of the pool, or of a new one."),
      memory: amount("Bytes that it occupies on a host."),
      vcpus: amount("Number of VCPUs."),
      load: amount("Number of cores in use."),
      networks: many("Ids of the networks of its interfaces."),
      srs: many("Ids of the SRs of its disks."),
      devices: optional(devices),
      host: optional(id("Id of the host that runs it.")),
      cpu: optional(id("CPU compatibility class that it depends on.")),
      pinned: optional(id("Why it cannot be migrated: XAPI's error code.")),
      restart: optional(
        Type.Object({
          priority: Type.Enum(["restart", "best-effort"]),
          order: Type.Number({
            minimum: 0,
            description:
              "XAPI's start order of the VM; those with a lower one are started first.",
          }),
          delay: Type.Number({
            minimum: 0,
            description:
              "Seconds to wait after its start before VMs of the next order start.",
          }),
        }),
      ),
    }),
  }),
]);
