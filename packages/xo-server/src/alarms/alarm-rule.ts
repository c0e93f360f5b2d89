import type { StoredAlarmRule } from "@xo-server/store";
import { Type, type Static } from "typebox";
import type { Target } from "../notifications/target.js";

const closed = { additionalProperties: false } as const;
const filter = Type.String({
  maxLength: 4_096,
  description: "Filter expression, such as `power_state:Running tags:prod`.",
});
const path = (description: string) =>
  Type.String({
    maxLength: 256,
    pattern: "^[^.\\s]+(\\.[^.\\s]+)*$",
    description,
  });
const type = Type.String({
  minLength: 1,
  maxLength: 64,
  description: "Object type: VM, host, SR, ...",
});

const Statistic = Type.Object(
  {
    kind: Type.Literal("statistic"),
    type,
    filter: Type.Optional(filter),
    metric: path("Property of the objects, such as `now.cpu`."),
    of: Type.Optional(
      path("Property of which the value is taken as a share, such as `size`."),
    ),
    comparison: Type.Enum([">", "<"], {
      description:
        "Whether the alarm is raised above (>) or below (<) the threshold.",
    }),
    threshold: Type.Number({
      description: "In the unit of the metric; with `of` a share from 0 to 1.",
    }),
    clearsAt: Type.Optional(
      Type.Number({
        description:
          "Value at which the alarm is cleared, in the unit of the threshold. Default: the threshold.",
      }),
    ),
  },
  {
    ...closed,
    description:
      "A metric or any other numeric property of objects, such as `now.cpu`; of the type `server` disk.usage, memory.usage, certificate.days, updates.hosts (hosts with missing updates), versions.pools (pools whose hosts run different versions), backup.failed, backup.mismatches, backup.unprotected, backup.days, backup.damaged, backup.unreachable or servers.lost (docs/alarms.md); with `of` as a share of another property, such as `physical_usage` of `size`. The alarm is cleared when the value is back beyond `clearsAt` (default of new rules: 5 % from the threshold).",
  },
);
const ObjectState = Type.Object(
  { kind: Type.Literal("object"), type, filter },
  { ...closed, description: "Matches while an object matches the filter." },
);
const Message = Type.Object(
  { kind: Type.Literal("message"), filter: Type.Optional(filter) },
  {
    ...closed,
    description: "Matches XAPI messages by name, body, $object or time.",
  },
);
const FailedTask = Type.Object(
  { kind: Type.Literal("task"), filter: Type.Optional(filter) },
  { ...closed, description: "Matches failed XAPI tasks." },
);
const PoolDisconnected = Type.Object(
  { kind: Type.Literal("pool") },
  { ...closed, description: "Matches while a pool is not connected." },
);

export const Condition = Type.Union([
  Statistic,
  ObjectState,
  Message,
  FailedTask,
  PoolDisconnected,
]);
export type Condition = Static<typeof Condition>;
export type StatisticCondition = Static<typeof Statistic>;

export const severities = ["info", "warning", "critical"] as const;
export type Severity = (typeof severities)[number];

/** Members of a rule besides its name and targets. */
export const ruleMembers = {
  enabled: Type.Boolean({
    description: "Whether the rule is evaluated. Default of new rules: true.",
  }),
  severity: Type.Enum(severities, {
    description:
      "Severity of the alarms of the rule. Default of new rules: warning.",
  }),
  on: Condition,
  forSeconds: Type.Integer({
    minimum: 0,
    maximum: 86_400,
    description:
      "Duration for which the condition must be met before the alarm is raised, in s. Default of new statistics rules: 60; of others: 0.",
  }),
  remindEverySeconds: Type.Integer({
    minimum: 0,
    maximum: 30 * 86_400,
    description:
      "Interval of reminders of open alarms that are not acknowledged, in s; 0: none.",
  }),
  notifyOnClear: Type.Boolean({
    description: "Whether a notification is sent when an alarm is cleared.",
  }),
};

type Members = {
  readonly [Member in keyof typeof ruleMembers]: Static<
    (typeof ruleMembers)[Member]
  >;
};

export interface AlarmRuleBody extends Members {
  readonly targets: readonly Target[];
}

export interface AlarmRule extends AlarmRuleBody {
  readonly id: string;
  readonly name: string;
  readonly updatedAt: number;
}

/** A rule from its row. Members that an imported row lacks get their defaults. */
export function toAlarmRule({
  id,
  name,
  body,
  updatedAt,
}: StoredAlarmRule): AlarmRule {
  const defaults = { targets: [], notifyOnClear: true };
  return { id, name, updatedAt, ...defaults, ...(body as AlarmRuleBody) };
}
