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
        "UUIDs of the VMs whose backups are copied. Default: all backups, including those of pools and of the configuration.",
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
          "Settings of Xen Orchestra's clients without effect here, stored for these clients.",
      },
    ),
  ),
  ...limits,
});
export type MirrorBody = Static<typeof MirrorBody>;
