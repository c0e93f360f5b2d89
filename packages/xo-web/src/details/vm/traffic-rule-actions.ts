import { ShieldPlus, Trash2 } from "@lucide/vue";
import type { Json } from "@xo-server/kit";
import type { Field } from "../../actions/plan/action-form.js";
import type { Action } from "../../actions/plan/action.js";
import type { Messages } from "../../locale/messages.js";
import type { TrafficRule } from "../../objects/traffic-rule.js";
import { ownAction } from "../own-action.js";

export type RuleOwnerType = "network" | "VIF";

const protocols = ["IP", "TCP", "UDP", "ICMP", "ARP"] as const;
const directions = ["from/to", "from", "to"] as const;
const nouns = { network: "network", VIF: "vif" } as const;

/** Adds a rule to a network or VIF. */
export function addRule(type: RuleOwnerType): Action {
  return ownAction({
    types: [type],
    id: `${nouns[type]}.addTrafficRule`,
    group: "change",
    icon: ShieldPlus,
    isForOne: true,
    label: (text) => text.network.rules.add,
    formOf: (_, { text }) => ({
      lead: text.network.rules.addLead,
      fields: fieldsOf(text),
      button: text.network.rules.button,
    }),
    operation: (_, { action, port, ...match }) => ({
      method: `${nouns[type]}.addTrafficRule`,
      params: {
        ...match,
        ...(typeof port === "number" ? { port } : {}),
        allow: action === "allow",
      },
    }),
  });
}

/** Deletes the rule that the property `rule` of the object is. */
export function deleteRule(type: RuleOwnerType): Action {
  return ownAction({
    types: [type],
    id: `${nouns[type]}.deleteTrafficRule`,
    group: "danger",
    icon: Trash2,
    tone: "danger",
    isForOne: true,
    label: (text) => text.network.rules.delete,
    formOf: (_, { text }) => ({ lead: text.network.rules.deleteLead }),
    operation: ({ rule }) => ({
      method: `${nouns[type]}.deleteTrafficRule`,
      params: matchOf(rule as TrafficRule),
    }),
    undo: (objects) =>
      objects.map((object) => ({
        operation: {
          method: `${nouns[type]}.addTrafficRule`,
          params: object["rule"] as Record<string, Json>,
        },
        objects: [object],
      })),
  });
}

/** The direction in words; unknown ones, of other clients, as they are. */
export function directionText({ direction }: TrafficRule, text: Messages) {
  const texts = text.network.rules.directions;
  return Object.hasOwn(texts, direction)
    ? texts[direction as keyof typeof texts]
    : direction;
}

function matchOf({ protocol, port, ipRange, direction }: TrafficRule) {
  const range = { protocol, ipRange, direction };
  return port === undefined ? range : { ...range, port };
}

function fieldsOf({ network: { rules } }: Messages): Field[] {
  return [
    {
      kind: "choice",
      id: "action",
      label: rules.columns.action,
      options: [
        { id: "drop", label: rules.drop },
        { id: "allow", label: rules.allow },
      ],
    },
    {
      kind: "choice",
      id: "protocol",
      label: rules.columns.protocol,
      options: protocols.map((id) => ({ id, label: id })),
    },
    {
      kind: "number",
      id: "port",
      label: rules.columns.port,
      hint: rules.portHint,
      isOptional: true,
      least: 0,
      most: 65_535,
    },
    {
      kind: "text",
      id: "ipRange",
      label: rules.columns.range,
      hint: rules.rangeHint,
      initial: "0.0.0.0/0",
    },
    {
      kind: "choice",
      id: "direction",
      label: rules.columns.direction,
      options: directions.map((id) => ({ id, label: rules.directions[id] })),
    },
  ];
}
