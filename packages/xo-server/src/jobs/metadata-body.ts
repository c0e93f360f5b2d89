import { Type, type Static } from "typebox";
import {
  limits,
  report,
  repositories,
  retentionOf,
  scheduleSettings,
  timezoneOf,
} from "./job-body.js";

/** Settings of a metadata backup job that a schedule may override. */
const overridable = {
  retention: Type.Optional(retentionOf("backup of each pool")),
  serverRetention: Type.Optional(retentionOf("backup of the configuration")),
};

/** Backs up databases of pools and the configuration of the server to repositories. */
export const MetadataBody = Type.Object({
  pools: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
      maxItems: 1_000,
      description: "Ids of pools whose database is backed up.",
    }),
  ),
  /** Not called `configuration`, because values of members with that name are masked as secrets. */
  server: Type.Optional(
    Type.Boolean({
      description:
        "Whether the configuration of this server is backed up. Default: false.",
    }),
  ),
  repositories,
  ...overridable,
  retention: retentionOf("backup of each pool"),
  schedules: scheduleSettings(overridable),
  timezone: timezoneOf,
  report,
  ...limits,
});
export type MetadataBody = Static<typeof MetadataBody>;

/** Whether there is anything to back up. */
export function isEmptyMetadata({
  pools = [],
  server = false,
}: Pick<MetadataBody, "pools" | "server">): boolean {
  return pools.length === 0 && !server;
}
