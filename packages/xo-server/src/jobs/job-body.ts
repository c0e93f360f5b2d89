import { Type, type Static } from "typebox";

const concurrency = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: 32,
    description: "Maximum number of concurrent calls; default: 2.",
  }),
);
const timeout = (what: string) =>
  Type.Optional(
    Type.Integer({
      minimum: 1,
      // Limit of Node's timers.
      maximum: 2 ** 31 - 1,
      description: `${what}, in ms; default: none.`,
    }),
  );
const limits = {
  concurrency,
  timeout: timeout("Timeout of each call"),
  runTimeout: timeout("Timeout of a run"),
};
const keep = (what: string) =>
  Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1_000, description: what }),
  );

/** Calls one operation, once per parameter set of the vector. */
export const CallBody = Type.Object({
  key: Type.Optional(
    Type.String({ maxLength: 128, description: "For clients: any string." }),
  ),
  method: Type.String({
    minLength: 1,
    maxLength: 128,
    description: "Name of an operation.",
  }),
  paramsVector: Type.Optional(
    Type.Object(
      { type: Type.String() },
      {
        additionalProperties: true,
        description:
          "set {values}, crossProduct {items}, map {collection, iteratee, paramName}, extractProperties {mapping, value}, fetchObjects {pattern or filter}; default: one call without parameters.",
      },
    ),
  ),
  ...limits,
});
export type CallBody = Static<typeof CallBody>;

/** Takes snapshots of VMs and applies a retention. */
export const SnapshotBody = Type.Object({
  vms: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
      maxItems: 10_000,
      description: "Ids of VMs.",
    }),
  ),
  filter: Type.Optional(
    Type.String({
      maxLength: 16_384,
      description: "Filter for VMs, evaluated at each run: `tags:prod`.",
    }),
  ),
  excludedTags: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), {
      maxItems: 64,
      description:
        "VMs with one of these tags are excluded; default: xo:no-bak.",
    }),
  ),
  retention: Type.Object(
    {
      keepLast: keep("Number of newest snapshots to keep."),
      keepDaily: keep("Number of days for which the last snapshot is kept."),
      keepWeekly: keep(
        "Number of weeks for which the last snapshot is kept; weeks begin on Monday.",
      ),
      keepMonthly: keep(
        "Number of months for which the last snapshot is kept.",
      ),
    },
    {
      additionalProperties: false,
      description:
        "Retention: a snapshot is kept if any of these rules keeps it.",
    },
  ),
  namePattern: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description:
        "Name template with {job}, {vm}, {date} and {time}; default: `{job} {date} {time}`.",
    }),
  ),
  withMemory: Type.Optional(
    Type.Boolean({
      description: "Whether snapshots of running VMs include their memory.",
    }),
  ),
  timezone: Type.Optional(
    Type.String({
      maxLength: 64,
      description:
        "Time zone for the retention by days; default: that of the schedule.",
    }),
  ),
  ...limits,
});
export type SnapshotBody = Static<typeof SnapshotBody>;
