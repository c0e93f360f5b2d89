import { Type, type Static } from "typebox";

const concurrency = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: 32,
    description: "Of its calls at a time; default: 2.",
  }),
);
const timeout = (what: string) =>
  Type.Optional(
    Type.Integer({
      minimum: 1,
      // What a timer of Node can hold.
      maximum: 2 ** 31 - 1,
      description: `${what}, in ms; default: none.`,
    }),
  );
const limits = {
  concurrency,
  timeout: timeout("Of each call"),
  runTimeout: timeout("Of a run"),
};
const keep = (what: string) =>
  Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1_000, description: what }),
  );

/** Calls one operation, as often as the vector has parameters. */
export const CallBody = Type.Object({
  key: Type.Optional(
    Type.String({ maxLength: 128, description: "For clients: any text." }),
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

/** Snapshots of VMs, and how long they stay. */
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
      description: "VMs that match when it is done: `tags:prod`.",
    }),
  ),
  excludedTags: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), {
      maxItems: 64,
      description: "VMs with one of these are left out; default: xo:no-bak.",
    }),
  ),
  retention: Type.Object(
    {
      keepLast: keep("The newest."),
      keepDaily: keep("The last of each day, of so many days."),
      keepWeekly: keep("The last of each week; weeks begin on Mondays."),
      keepMonthly: keep("The last of each month."),
    },
    {
      additionalProperties: false,
      description: "A snapshot stays that one of these keeps.",
    },
  ),
  namePattern: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description:
        "{job}, {vm}, {date} and {time} are filled in; default: `{job} {date} {time}`.",
    }),
  ),
  withMemory: Type.Optional(
    Type.Boolean({ description: "Of VMs that run, with their memory." }),
  ),
  timezone: Type.Optional(
    Type.String({
      maxLength: 64,
      description: "When days begin; default: that of the schedule.",
    }),
  ),
  ...limits,
});
export type SnapshotBody = Static<typeof SnapshotBody>;
