import type { AlarmRule } from "@xo-server/store";
import { Type, type Static } from "typebox";

const closed = { additionalProperties: false } as const;
const filter = Type.String({
  maxLength: 4_096,
  description: "In the language of filters: `power_state:Running tags:prod`.",
});
const path = Type.String({
  maxLength: 256,
  pattern: "^[^.\\s]+(\\.[^.\\s]+)*$",
});
const type = Type.String({
  minLength: 1,
  maxLength: 64,
  description: "As objects call it: VM, host, SR, ...",
});

const Statistic = Type.Object(
  {
    kind: Type.Literal("statistic"),
    type,
    filter: Type.Optional(filter),
    metric: path,
    of: Type.Optional(path),
    comparison: Type.Enum([">", "<"]),
    threshold: Type.Number(),
    clearsAt: Type.Optional(Type.Number()),
  },
  {
    ...closed,
    description:
      "A number of objects of a type, `now.cpu` or any other; with `of` its share of another one, such as `physical_usage` of `size`. An alarm ends where the number is beyond `clearsAt` again.",
  },
);
const ObjectState = Type.Object(
  { kind: Type.Literal("object"), type, filter },
  { ...closed, description: "As long as a filter holds for an object." },
);
const Message = Type.Object(
  { kind: Type.Literal("message"), filter: Type.Optional(filter) },
  { ...closed, description: "Messages of pools: name, body, $object, time." },
);
const FailedTask = Type.Object(
  { kind: Type.Literal("task"), filter: Type.Optional(filter) },
  { ...closed, description: "Tasks of pools that fail." },
);
const PoolGone = Type.Object(
  { kind: Type.Literal("pool") },
  { ...closed, description: "As long as a pool is not connected." },
);

export const Condition = Type.Union([
  Statistic,
  ObjectState,
  Message,
  FailedTask,
  PoolGone,
]);
export type Condition = Static<typeof Condition>;
export type StatisticCondition = Static<typeof Statistic>;

const Mail = Type.Object(
  {
    id: Type.Optional(Type.String({ maxLength: 64 })),
    kind: Type.Literal("e-mail"),
    addresses: Type.Array(
      Type.String({ pattern: '^[^\\s@<>,;"]+@[^\\s@<>,;"]+$', maxLength: 254 }),
      { minItems: 1, maxItems: 50 },
    ),
  },
  closed,
);
const webHook = {
  id: Type.Optional(Type.String({ maxLength: 64 })),
  kind: Type.Literal("web-hook"),
  url: Type.String({ pattern: "^https?://[^\\s@]+$", maxLength: 2_048 }),
};
const header = Type.String({ maxLength: 2_048, pattern: "^[\\x20-\\x7e]*$" });

/** Who is told, as it is given: with what nobody is shown afterwards. */
export const GivenTarget = Type.Union([
  Mail,
  Type.Object(
    {
      ...webHook,
      // By this name no log has them.
      secretHeaders: Type.Optional(
        Type.Record(Type.String({ pattern: "^[A-Za-z0-9-]{1,64}$" }), header, {
          maxProperties: 16,
          ...closed,
        }),
      ),
      secret: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
    },
    closed,
  ),
]);
export type GivenTarget = Static<typeof GivenTarget>;

export const Target = Type.Union([
  Mail,
  Type.Object({
    ...webHook,
    headerNames: Type.Array(Type.String()),
    isSigned: Type.Boolean(),
  }),
]);
export type Target = Static<typeof Target> & { readonly id: string };

/** What is sealed of a target. */
export interface TargetSecret {
  readonly headers?: Readonly<Record<string, string>>;
  /** What messages are signed with. */
  readonly secret?: string;
}

export const severities = ["info", "warning", "critical"] as const;
export type Severity = (typeof severities)[number];

/** What a rule says besides its name and whom it tells. */
export const ruleMembers = {
  enabled: Type.Boolean(),
  severity: Type.Enum(severities),
  on: Condition,
  forSeconds: Type.Integer({
    minimum: 0,
    maximum: 86_400,
    description: "So long it has to be so before there is an alarm.",
  }),
  remindEverySeconds: Type.Integer({
    minimum: 0,
    maximum: 30 * 86_400,
    description:
      "Alarms that are open and not acknowledged are told again; 0: they are not.",
  }),
  tellsEnd: Type.Boolean({
    description: "The end of an alarm is told as well.",
  }),
};

type Members = {
  readonly [Member in keyof typeof ruleMembers]: Static<
    (typeof ruleMembers)[Member]
  >;
};

export interface RuleBody extends Members {
  readonly sendTo: readonly Target[];
}

export interface Rule extends RuleBody {
  readonly id: string;
  readonly name: string;
  readonly updatedAt: number;
}

export function toRule({ id, name, body, updatedAt }: AlarmRule): Rule {
  // Nobody else writes there.
  return { id, name, updatedAt, ...(body as RuleBody) };
}
