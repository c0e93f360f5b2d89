import { XoError } from "@xo-server/model";
import { Type, type Static } from "typebox";
import {
  checkCondition,
  toRuleBody,
  withNewRuleDefaults,
} from "../../alarms/parse-rule.js";
import {
  ruleMembers,
  toAlarmRule,
  type AlarmRule,
} from "../../alarms/alarm-rule.js";
import {
  MAX_TARGETS,
  splitTargets,
} from "../../notifications/split-targets.js";
import { Target, TargetInput } from "../../notifications/target.js";
import { alarmRuleTestOperations } from "./alarm-rule-test.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import { findAlarmRule, targetSecretsOf } from "./find-alarm-rule.js";
import type { RestRoute } from "../../operations/rest-route.js";

const id = Type.String({ minLength: 1, description: "Id of an alarm rule." });
const name = Type.String({
  minLength: 1,
  maxLength: 256,
  description: "Name of the rule.",
});
const targets = Type.Array(TargetInput, {
  maxItems: MAX_TARGETS,
  description:
    "E-mail addresses, webhooks and chat services (Slack, Microsoft Teams, Mattermost, ntfy) to which notifications are sent. `secretHeaders`, `secret` (the key that signs messages), `secretUrl` and `secretToken` are never returned.",
});
const closed = { additionalProperties: false } as const;
const { on, ...settings } = ruleMembers;
const optional = Type.Partial(Type.Object(settings)).properties;

const PublicRule = Type.Object({
  id: Type.String(),
  name: Type.String(),
  ...ruleMembers,
  targets: Type.Array(Target),
  open: Type.Integer({ description: "Number of open alarms of the rule." }),
  omitted: Type.Integer({
    description:
      "Number of matching objects beyond the maximum of open alarms.",
  }),
  problem: Type.Optional(
    Type.String({ description: "Reason for which the rule is not evaluated." }),
  ),
  undelivered: Type.Array(
    Type.Object({
      targetId: Type.String(),
      error: Type.String(),
      attempts: Type.Integer(),
      createdAt: Type.Integer(),
      nextAt: Type.Optional(Type.Integer()),
    }),
    {
      description:
        "Notifications that could not be sent. Without nextAt no further attempts are made.",
    },
  ),
});
type PublicRule = Static<typeof PublicRule>;

/** Maximum number of rules: each is a live query. */
const MAX_RULES = 200;
const MAX_UNDELIVERED = 1_000;

const example = {
  id: "00000000-0000-4000-8000-000000000004",
  name: "CPU",
  enabled: true,
  severity: "warning",
  forSeconds: 60,
  open: 0,
};
const route = (
  method: RestRoute["method"],
  path: string,
  more: Omit<RestRoute, "method" | "path">,
): RestRoute => ({ method, path: `/alarm-rules${path}`, ...more });

const change = { permission: "admin", changes: true } as const;

const alarmRuleCreate = defineOperation({
  ...change,
  name: "alarmRule.create",
  summary: "Create an alarm rule and return its id.",
  params: Type.Object(
    {
      name,
      on,
      ...optional,
      targets: Type.Optional(targets),
    },
    closed,
  ),
  result: Type.String(),
  rest: route("post", "", {
    operationId: "CreateAlarmRule",
    exposure: "confirm",
    status: 201,
  }),
  async handler(params, { services }) {
    const { name: ruleName, targets: input, ...rest } = params;
    if (services.store.alarmRules.size >= MAX_RULES)
      throw new XoError("LIMIT_REACHED", {
        limit: MAX_RULES,
        what: "alarm rules",
      });
    checkCondition(rest.on, services.catalog);
    const { secrets, ...split } = splitTargets(input ?? []);
    const body = { ...rest, ...split };
    const { id } = await services.store.alarmRules.create({
      name: ruleName,
      body: toRuleBody(withNewRuleDefaults(body)),
      secret: secrets,
    });
    await services.alarms.apply();
    return id;
  },
});

const alarmRuleSet = defineOperation({
  ...change,
  name: "alarmRule.set",
  summary:
    "Change an alarm rule. Absent properties are not changed. A new condition clears the open alarms of the rule.",
  params: Type.Object(
    {
      id,
      name: Type.Optional(name),
      on: Type.Optional(on),
      ...optional,
      targets: Type.Optional(targets),
    },
    closed,
  ),
  result: Type.Boolean(),
  rest: route("patch", "/{id}", {
    operationId: "UpdateAlarmRule",
    exposure: "confirm",
    status: 204,
  }),
  async handler({ id: ruleId, name: newName, ...members }, context) {
    const { targets: inputs, ...patch } = members;
    const old = findAlarmRule(context, ruleId);
    if (patch.on !== undefined)
      checkCondition(patch.on, context.services.catalog);
    const before = {
      targets: old.targets,
      secrets: targetSecretsOf(context, ruleId),
    };
    const { secrets, ...split } =
      inputs === undefined ? before : splitTargets(inputs, before);
    const changes = { ...patch, ...split };
    await context.services.store.alarmRules.replace(ruleId, {
      name: newName ?? old.name,
      body: toRuleBody({ ...old, ...changes }),
      secret: secrets,
    });
    await context.services.alarms.apply();
    return true;
  },
});

const alarmRuleDelete = defineOperation({
  ...change,
  name: "alarmRule.delete",
  summary: "Delete an alarm rule and its alarms.",
  params: Type.Object({ id }, closed),
  result: Type.Boolean(),
  rest: route("delete", "/{id}", {
    operationId: "DeleteAlarmRule",
    exposure: "confirm",
    status: 204,
  }),
  async handler(params, { services }) {
    await services.store.alarmRules.delete(params.id);
    await services.alarms.apply();
    return true;
  },
});

const toPublic = async (
  { services }: Pick<OperationContext, "services">,
  rules: readonly AlarmRule[],
): Promise<PublicRule[]> => {
  const failing = await services.store.alarmNotices.failing(MAX_UNDELIVERED);
  return rules.map((rule) => ({
    id: rule.id,
    name: rule.name,
    ...toRuleBody(rule),
    targets: [...rule.targets],
    ...services.alarms.statusOf(rule.id),
    undelivered: failing
      .filter(({ ruleId }) => ruleId === rule.id)
      .map(({ targetId, error = "", attempts, createdAt, nextAt }) => ({
        targetId,
        error,
        attempts,
        createdAt,
        ...(nextAt === undefined ? {} : { nextAt }),
      })),
  }));
};

const alarmRuleGetAll = defineOperation({
  name: "alarmRule.getAll",
  summary: "List all alarm rules with their state.",
  params: Type.Object({}),
  result: Type.Array(PublicRule),
  permission: "admin",
  rest: route("get", "", {
    operationId: "GetAlarmRules",
    exposure: "allow",
    example: [example],
  }),
  handler: (_params, context) =>
    toPublic(
      context,
      Array.from(context.services.store.alarmRules.list(), toAlarmRule),
    ),
});

const alarmRuleGet = defineOperation({
  name: "alarmRule.get",
  summary: "Return an alarm rule with its state.",
  params: Type.Object({ id }, closed),
  result: PublicRule,
  permission: "admin",
  rest: route("get", "/{id}", {
    operationId: "GetAlarmRule",
    exposure: "allow",
    example,
  }),
  handler: async (params, context) =>
    (await toPublic(context, [findAlarmRule(context, params.id)]))[0]!,
});

const readOperations = [alarmRuleGetAll, alarmRuleGet];

/** Alarm rules: conditions, and the targets that are notified. */
export const alarmRuleOperations = [
  ...readOperations,
  alarmRuleCreate,
  alarmRuleSet,
  alarmRuleDelete,
  ...alarmRuleTestOperations,
];
