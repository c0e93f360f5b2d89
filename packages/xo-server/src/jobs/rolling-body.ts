import { Type, type Static } from "typebox";
import { WindowsShape } from "../schedules/window-shape.js";

const flag = (description: string) =>
  Type.Optional(Type.Boolean({ description }));

/** Rolling updates of pools, group after group. */
export const RollingBody = Type.Object({
  groups: Type.Array(
    Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
      minItems: 1,
      maxItems: 64,
    }),
    {
      minItems: 1,
      maxItems: 32,
      description:
        "Groups of ids of pools. The pools of a group are updated at the same time; a group is started when all pools of the previous group have been updated without a failure.",
    },
  ),
  windows: Type.Optional(WindowsShape),
  parallel: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 64,
      description:
        "Maximum number of hosts of a pool that are down at the same time. Default: a quarter of the pool.",
    }),
  ),
  concurrency: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 32,
      description:
        "Maximum number of pools that are updated at the same time. Default: 4.",
    }),
  ),
  shutdownPinnedVms: flag(
    "Shuts down VMs that cannot be migrated, and starts them afterwards.",
  ),
  migrateBack: flag(
    "Whether VMs are migrated back at the end. Default: false.",
  ),
});
export type RollingBody = Static<typeof RollingBody>;
