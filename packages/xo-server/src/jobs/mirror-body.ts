import { Type, type Static } from "typebox";
import {
  limits,
  report,
  repositories,
  retentionOf,
  scheduleSettings,
  timezoneOf,
  maxRate,
} from "./job-body.js";

/** Settings of a mirror job that a schedule may override. */
const overridable = {
  retention: Type.Optional(retentionOf("copy")),
};

/** Copies backups of one repository into others, with a retention of their own. */
export const MirrorBody = Type.Object({
  source: Type.String({
    minLength: 1,
    maxLength: 128,
    description: "Id of the source repository.",
  }),
  vms: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
      minItems: 1,
      maxItems: 10_000,
      description:
        "UUIDs: only backups of these VMs; default: all backups, also of pools and the configuration.",
    }),
  ),
  repositories,
  ...overridable,
  retention: retentionOf("copy"),
  schedules: scheduleSettings(overridable),
  maxRate,
  timezone: timezoneOf,
  report,
  contract: Type.Optional(
    Type.Object(
      {},
      {
        additionalProperties: true,
        description:
          "Settings of clients of Xen Orchestra that have no effect.",
      },
    ),
  ),
  ...limits,
});
export type MirrorBody = Static<typeof MirrorBody>;
