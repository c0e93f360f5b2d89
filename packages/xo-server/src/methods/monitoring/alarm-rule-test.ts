import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import { checkCondition } from "../../alarms/parse-rule.js";
import { ruleMembers } from "../../alarms/alarm-rule.js";
import { toChatPayload } from "../../notifications/chat-payload.js";
import { toMailText } from "../../notifications/message.js";
import { splitTargets } from "../../notifications/split-targets.js";
import { chatKinds, TargetInput } from "../../notifications/target.js";
import { defineOperation } from "../definition/define-operation.js";
import { findAlarmRule, targetSecretsOf } from "./find-alarm-rule.js";

const id = Type.String({ minLength: 1, description: "Id of an alarm rule." });
const closed = { additionalProperties: false } as const;
const change = { permission: "admin", changes: true } as const;

const tested = {
  target: Type.String({ description: "Addresses, URL, or label and host." }),
  sent: Type.Boolean(),
  error: Type.Optional(Type.String()),
};

const alarmRuleTest = defineOperation({
  ...change,
  name: "alarmRule.test",
  summary:
    "Send a test notification to all targets of an alarm rule. Returns, for each target, whether it was sent, or the error.",
  params: Type.Object({ id }, closed),
  result: Type.Array(
    Type.Object({
      targetId: Type.String(),
      ...tested,
    }),
  ),
  rest: {
    method: "post",
    path: "/alarm-rules/{id}/actions/test",
    operationId: "TestAlarmRule",
    exposure: "confirm",
  },
  handler: async (params, context) => {
    const { targets } = findAlarmRule(context, params.id);
    if (targets.length === 0)
      throw new XoError("INVALID_PARAMETERS", {
        reason:
          "the rule has no targets: add e-mail addresses, a webhook or a chat service with alarmRule.set",
      });
    return [...(await context.services.alarms.test(params.id))];
  },
});

const ExampleRule = {
  name: Type.String({
    minLength: 1,
    maxLength: 256,
    description: "Name of the rule.",
  }),
  on: ruleMembers.on,
  severity: ruleMembers.severity,
  forSeconds: Type.Optional(ruleMembers.forSeconds),
};

const alarmRuleTestTarget = defineOperation({
  ...change,
  name: "alarmRule.testTarget",
  summary:
    "Send a test notification to one target of a rule, stored or not. If `id` and `target.id` name a stored rule and target, the stored secrets are used.",
  params: Type.Object(
    { ...ExampleRule, id: Type.Optional(id), target: TargetInput },
    closed,
  ),
  result: Type.Object(tested),
  rest: {
    method: "post",
    path: "/alarm-rules/actions/test-target",
    operationId: "TestAlarmTarget",
    exposure: "confirm",
  },
  async handler({ id: ruleId, target: input, ...rule }, context) {
    checkCondition(rule.on, context.services.catalog);
    const before =
      ruleId === undefined
        ? undefined
        : {
            targets: findAlarmRule(context, ruleId).targets,
            secrets: targetSecretsOf(context, ruleId),
          };
    const split = splitTargets([input], before);
    const [target] = split.targets;
    const { sent, error, ...result } = await context.services.alarms.testTarget(
      { forSeconds: 0, id: ruleId ?? "", ...rule },
      target!,
      split.secrets[target!.id] ?? {},
    );
    return {
      target: result.target,
      sent,
      ...(error === undefined ? {} : { error }),
    };
  },
});

const alarmRulePreview = defineOperation({
  name: "alarmRule.preview",
  summary:
    "Return the notification that a rule would send for an example object: as plain text, and as JSON for each kind of target.",
  params: Type.Object(
    {
      ...ExampleRule,
      event: Type.Optional(
        Type.Enum(["raised", "ended", "reminder", "test"], {
          description: "Event that the notification reports. Default: raised.",
        }),
      ),
    },
    closed,
  ),
  result: Type.Object({
    title: Type.String(),
    tone: Type.String({ description: "info, warning, critical or resolved." }),
    lead: Type.Optional(Type.String()),
    lines: Type.Array(
      Type.Object({ text: Type.String(), url: Type.Optional(Type.String()) }),
    ),
    time: Type.String(),
    mail: Type.String({ description: "Text of the mail." }),
    json: Type.Record(Type.String(), Type.Object({}), {
      description: "By kind of target: web-hook, slack, teams, ...",
    }),
  }),
  permission: "admin",
  rest: {
    method: "post",
    path: "/alarm-rules/actions/preview",
    operationId: "PreviewAlarmRule",
    exposure: "confirm",
  },
  handler({ event = "raised", ...rule }, { services }) {
    checkCondition(rule.on, services.catalog);
    const message = services.alarms.preview(
      { id: "", forSeconds: 0, ...rule },
      event,
    );
    const { json, lines, ...shown } = message;
    const ofChats = chatKinds.map(
      (kind) => [kind, toChatPayload(kind, message, "topic")] as const,
    );
    return {
      ...shown,
      lines: [...lines],
      mail: toMailText(message),
      json: { "web-hook": json, ...Object.fromEntries(ofChats) },
    };
  },
});

/** Test messages and previews of alarm rules. */
export const alarmRuleTestOperations = [
  alarmRuleTest,
  alarmRuleTestTarget,
  alarmRulePreview,
];
