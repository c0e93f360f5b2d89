import {
  evaluatePredicate,
  type Catalog,
  type Predicate,
} from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import type { Alarm } from "@xo-server/store";
import { Type, type Static } from "typebox";
import { bodyOf } from "../../alarms/alarm-body.js";
import { severities } from "../../alarms/alarm-rule.js";
import { readableTo } from "../../objects/readable.js";
import type { CallContext } from "../../operations/operation.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";

const id = Type.String({ minLength: 1, description: "Id of an alarm." });
const closed = { additionalProperties: false } as const;

const PublicAlarm = Type.Object({
  id: Type.String(),
  ruleId: Type.String(),
  ruleName: Type.String(),
  severity: Type.Enum(severities),
  objectId: Type.Optional(Type.String()),
  type: Type.String(),
  name: Type.String(),
  value: Type.Optional(Type.Number()),
  text: Type.Optional(Type.String()),
  raisedAt: Type.Integer({ description: "Time, in ms since the epoch." }),
  endedAt: Type.Optional(Type.Integer()),
  acknowledgedAt: Type.Optional(Type.Integer()),
  acknowledgedBy: Type.Optional(Type.String()),
});
type PublicAlarm = Static<typeof PublicAlarm>;

/** Page size of reads. */
const PAGE = 500;

const example = {
  id: "00000000-0000-4000-8000-000000000005",
  ruleName: "CPU",
  severity: "warning",
  type: "VM",
  name: "web-1",
  value: 0.95,
};

/** @throws XoError NO_SUCH_OBJECT */
async function find(
  alarmId: string,
  context: OperationContext,
): Promise<Alarm> {
  const alarm = await context.services.store.alarms.get(alarmId);
  if (alarm === undefined || !maySee(context.services.catalog, context)(alarm))
    throw new XoError("NO_SUCH_OBJECT", { type: "alarm", id: alarmId });
  return alarm;
}

const alarmGetAll = defineOperation({
  name: "alarm.getAll",
  summary:
    "List the alarms raised by alarm rules, newest first. Alarms of XAPI itself are objects of the type message.",
  params: Type.Object(
    {
      open: Type.Optional(
        Type.Boolean({ description: "Only alarms that are not cleared." }),
      ),
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 1_000,
          description: "Maximum number of alarms.",
        }),
      ),
    },
    closed,
  ),
  result: Type.Array(PublicAlarm),
  permission: "viewer",
  rest: {
    method: "get",
    path: "/raised-alarms",
    exposure: "allow",
    operationId: "GetRaisedAlarms",
    example: [example],
  },
  async handler({ open = false, limit = 100 }, context) {
    const isVisible = maySee(context.services.catalog, context);
    const found: Alarm[] = [];
    let after: Alarm | undefined;
    do {
      const page = await context.services.store.alarms.list({
        isOpen: open,
        limit: PAGE,
        ...(after === undefined ? {} : { after }),
      });
      found.push(...page.filter(isVisible));
      after = page.length < PAGE ? undefined : page.at(-1);
    } while (after !== undefined && found.length < limit);
    return found.slice(0, limit).map(toPublic);
  },
});

const alarmGet = defineOperation({
  name: "alarm.get",
  summary: "Return an alarm raised by an alarm rule.",
  params: Type.Object({ id }, closed),
  result: PublicAlarm,
  permission: "viewer",
  rest: {
    method: "get",
    path: "/raised-alarms/{id}",
    exposure: "allow",
    operationId: "GetRaisedAlarm",
    example,
  },
  handler: async (params, context) => toPublic(await find(params.id, context)),
});

const alarmAcknowledge = defineOperation({
  name: "alarm.acknowledge",
  summary: "Acknowledge an alarm: no more reminders are sent.",
  params: Type.Object({ id }, closed),
  result: PublicAlarm,
  permission: "user",
  changes: true,
  rest: {
    method: "post",
    path: "/raised-alarms/{id}/actions/acknowledge",
    operationId: "AcknowledgeRaisedAlarm",
    exposure: "confirm",
  },
  async handler(params, context) {
    await find(params.id, context);
    const alarm = await context.services.store.alarms.acknowledge(
      params.id,
      context.user?.id,
    );
    context.services.alarmListeners.notify();
    return toPublic(alarm);
  },
});

const alarmSubscribe = defineOperation({
  name: "alarm.subscribe",
  summary:
    "Subscribe to notifications `alarms` {}, sent when alarms have changed.",
  params: Type.Object({}),
  result: Type.Boolean(),
  permission: "viewer",
  handler(_, { services, client }) {
    services.alarmListeners.add(client);
    return true;
  },
});

const alarmUnsubscribe = defineOperation({
  name: "alarm.unsubscribe",
  summary:
    "Unsubscribe from `alarms` notifications. Returns false if there is no subscription.",
  params: Type.Object({}),
  result: Type.Boolean(),
  permission: "viewer",
  handler: (_, { services, client }) => services.alarmListeners.delete(client),
});

/**
 * An alarm is readable with the right to read its object. For a deleted object, and
 * for alarms without one, it is the right to read all objects of the type.
 */
function maySee(
  catalog: Pick<Catalog, "get">,
  context: CallContext,
): (alarm: Alarm) => boolean {
  const readable = readableTo(context);
  const byType = new Map<string, Predicate | undefined>();
  return (alarm) => {
    const { type } = bodyOf(alarm);
    if (!byType.has(type)) byType.set(type, readable(type));
    const test = byType.get(type);
    if (test === undefined) return true;
    const entry =
      alarm.objectId === undefined ? undefined : catalog.get(alarm.objectId);
    return entry !== undefined && evaluatePredicate(test, entry.json);
  };
}

function toPublic(alarm: Alarm): PublicAlarm {
  const { ruleName, severity, type, name, value, text } = bodyOf(alarm);
  const { id: alarmId, ruleId, objectId, beganAt, endedAt } = alarm;
  const { acknowledgedAt, acknowledgedBy } = alarm;
  return {
    id: alarmId,
    ruleId,
    ruleName,
    severity,
    type,
    name,
    raisedAt: beganAt,
    ...(objectId === undefined ? {} : { objectId }),
    ...(value === undefined ? {} : { value }),
    ...(text === undefined ? {} : { text }),
    ...(endedAt === undefined ? {} : { endedAt }),
    ...(acknowledgedAt === undefined ? {} : { acknowledgedAt }),
    ...(acknowledgedBy === undefined ? {} : { acknowledgedBy }),
  };
}

/** Alarms about objects that the caller may read. */
export const alarmOperations = [
  alarmGetAll,
  alarmGet,
  alarmAcknowledge,
  alarmSubscribe,
  alarmUnsubscribe,
];
