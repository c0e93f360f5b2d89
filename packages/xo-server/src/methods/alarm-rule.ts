import type { Catalog } from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import type { Store } from "@xo-server/store";
import { Type, type Static } from "typebox";
import type { Alarms } from "../alarms/alarms.js";
import {
  checkCondition,
  MOST_TARGETS,
  splitTargets,
  toRuleBody,
} from "../alarms/given-rule.js";
import {
  GivenTarget,
  ruleMembers,
  Target,
  toRule,
  type Rule,
  type TargetSecret,
} from "../alarms/rule.js";
import { defineOperation, type OperationContext } from "./define-operation.js";
import type { RestRoute } from "../operations/rest-route.js";

const id = Type.String({ minLength: 1, description: "Of a rule." });
const name = Type.String({ minLength: 1, maxLength: 256 });
const sendTo = Type.Array(GivenTarget, {
  maxItems: MOST_TARGETS,
  description:
    "E-mail addresses and web hooks; `secretHeaders` and `secret` (messages are signed with it) are never shown again.",
});
const closed = { additionalProperties: false } as const;
const { on, ...settings } = ruleMembers;
const optional = Type.Partial(Type.Object(settings)).properties;

const PublicRule = Type.Object({
  id: Type.String(),
  name: Type.String(),
  ...ruleMembers,
  sendTo: Type.Array(Target),
  open: Type.Integer({ description: "Alarms of it that are open." }),
  others: Type.Integer({
    description: "Objects beyond those, of which it is so as well.",
  }),
  problem: Type.Optional(Type.String({ description: "Why it finds nothing." })),
  undelivered: Type.Array(
    Type.Object({
      targetId: Type.String(),
      error: Type.String(),
      attempts: Type.Integer(),
      createdAt: Type.Integer(),
      nextAt: Type.Optional(Type.Integer()),
    }),
    {
      description: "Messages that could not be sent; without nextAt: given up.",
    },
  ),
});
type PublicRule = Static<typeof PublicRule>;

export interface AlarmRuleParts {
  readonly store: Pick<Store, "alarmRules" | "alarmNotices">;
  readonly alarms: Pick<Alarms, "apply" | "figures" | "test">;
  readonly catalog: Pick<Catalog, "classOf">;
}

/** Rules at most: each is a live query. */
const MOST_RULES = 200;
const MOST_UNDELIVERED = 1_000;

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

const find = (
  { services }: Pick<OperationContext, "services">,
  ruleId: string,
): Rule => {
  const rule = services.store.alarmRules.get(ruleId);
  if (rule === undefined)
    throw new XoError("NO_SUCH_OBJECT", { type: "alarm rule", id: ruleId });
  return toRule(rule);
};

const secretsOf = (
  { services }: Pick<OperationContext, "services">,
  ruleId: string,
) =>
  (services.store.alarmRules.secret(ruleId) ?? {}) as Readonly<
    Record<string, TargetSecret>
  >;

export const alarmRuleCreate = defineOperation({
  ...change,
  name: "alarmRule.create",
  summary: "A new rule; its id.",
  params: Type.Object(
    { name, on, ...optional, sendTo: Type.Optional(sendTo) },
    closed,
  ),
  result: Type.String(),
  rest: route("post", "", {
    operationId: "CreateAlarmRule",
    exposure: "confirm",
    status: 201,
  }),
  async handler({ name: ruleName, sendTo: given = [], ...rest }, { services }) {
    if (services.store.alarmRules.size >= MOST_RULES)
      throw new XoError("LIMIT_REACHED", {
        limit: MOST_RULES,
        what: "rules of alarms",
      });
    checkCondition(rest.on, services.catalog);
    const { secrets, ...targets } = splitTargets(given);
    const made = await services.store.alarmRules.create({
      name: ruleName,
      body: toRuleBody({ ...rest, ...targets }),
      secret: secrets,
    });
    await services.alarms.apply();
    return made.id;
  },
});

export const alarmRuleSet = defineOperation({
  ...change,
  name: "alarmRule.set",
  summary:
    "Changes a rule; what is not given stays. With another condition its open alarms end.",
  params: Type.Object(
    {
      id,
      name: Type.Optional(name),
      on: Type.Optional(on),
      ...optional,
      sendTo: Type.Optional(sendTo),
    },
    closed,
  ),
  result: Type.Boolean(),
  rest: route("patch", "/{id}", {
    operationId: "UpdateAlarmRule",
    exposure: "confirm",
    status: 204,
  }),
  async handler(
    { id: ruleId, name: newName, sendTo: given, ...patch },
    context,
  ) {
    const old = find(context, ruleId);
    if (patch.on !== undefined)
      checkCondition(patch.on, context.services.catalog);
    const before = { sendTo: old.sendTo, secrets: secretsOf(context, ruleId) };
    const { secrets, ...targets } =
      given === undefined ? before : splitTargets(given, before);
    await context.services.store.alarmRules.replace(ruleId, {
      name: newName ?? old.name,
      body: toRuleBody({ ...old, ...patch, ...targets }),
      secret: secrets,
    });
    await context.services.alarms.apply();
    return true;
  },
});

export const alarmRuleDelete = defineOperation({
  ...change,
  name: "alarmRule.delete",
  summary: "Deletes a rule and its alarms.",
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

export const alarmRuleTest = defineOperation({
  ...change,
  name: "alarmRule.test",
  summary: "Sends a message to each that the rule tells; what went wrong.",
  params: Type.Object({ id }, closed),
  result: Type.Array(
    Type.Object({
      targetId: Type.String(),
      error: Type.Optional(Type.String()),
    }),
  ),
  rest: route("post", "/{id}/actions/test", {
    operationId: "TestAlarmRule",
    exposure: "confirm",
  }),
  handler: (params, { services }) => services.alarms.test(params.id),
});

const toPublic = async (
  { services }: Pick<OperationContext, "services">,
  rules: readonly Rule[],
): Promise<PublicRule[]> => {
  const failing = await services.store.alarmNotices.failing(MOST_UNDELIVERED);
  return rules.map((rule) => ({
    id: rule.id,
    name: rule.name,
    ...toRuleBody(rule),
    sendTo: [...rule.sendTo],
    ...services.alarms.figures(rule.id),
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

export const alarmRuleGetAll = defineOperation({
  name: "alarmRule.getAll",
  summary: "All rules of alarms, and how they are doing.",
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
      Array.from(context.services.store.alarmRules.list(), toRule),
    ),
});

export const alarmRuleGet = defineOperation({
  name: "alarmRule.get",
  summary: "One rule, and how it is doing.",
  params: Type.Object({ id }, closed),
  result: PublicRule,
  permission: "admin",
  rest: route("get", "/{id}", {
    operationId: "GetAlarmRule",
    exposure: "allow",
    example,
  }),
  handler: async (params, context) =>
    (await toPublic(context, [find(context, params.id)]))[0]!,
});

const readOperations = [alarmRuleGetAll, alarmRuleGet];

/** When somebody is told of what, and who. */
export const alarmRuleOperations = [
  ...readOperations,
  alarmRuleCreate,
  alarmRuleSet,
  alarmRuleDelete,
  alarmRuleTest,
];
