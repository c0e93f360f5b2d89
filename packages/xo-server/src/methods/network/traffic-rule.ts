import { Type } from "typebox";
import {
  checkMatch,
  directions,
  protocols,
  type TrafficMatch,
} from "../../networks/traffic-rule.js";
import {
  addTrafficRule,
  deleteTrafficRule,
  ownerOf,
} from "../../networks/traffic-rules.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import { actionRoute, idOf, onId } from "../definition/on-object.js";

const match = {
  protocol: Type.Enum([...protocols]),
  port: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 65_535,
      description: "Of TCP and UDP, where it is required.",
    }),
  ),
  ipRange: Type.String({
    minLength: 1,
    maxLength: 18,
    description: "IPv4 address or network, such as 192.0.2.0/24.",
  }),
  direction: Type.Enum([...directions], {
    description: "Traffic from the range, to it, or both.",
  }),
};
const allow = Type.Boolean({
  description: "Whether the traffic passes; false: it is dropped.",
});

const ofNetwork = {
  result: Type.Boolean(),
  permission: onId("administrate:set", "network"),
  changes: true,
};
const ofVif = {
  result: Type.Boolean(),
  permission: onId("administrate:set", "VIF"),
  changes: true,
};
const route = (owner: "networks" | "vifs", verb: "add" | "delete") =>
  actionRoute(
    `/plugins/sdn-controller/${owner}/{id}/actions/${verb}_traffic_rule`,
    `${verb === "add" ? "Add" : "Delete"}${owner === "vifs" ? "Vif" : "Network"}TrafficRule`,
  );

const networkAddTrafficRule = defineOperation({
  ...ofNetwork,
  name: "network.addTrafficRule",
  summary:
    "Allow or drop traffic of a network (OpenFlow rule of XCP-ng hosts), or change the rule of the same traffic.",
  params: Type.Object({ id: idOf("a network"), ...match, allow }),
  rest: route("networks", "add"),
  handler: ({ id, allow, ...input }, context) =>
    add({ id, allow, ...input }, context),
});

const networkDeleteTrafficRule = defineOperation({
  ...ofNetwork,
  name: "network.deleteTrafficRule",
  summary: "Delete a traffic rule of a network.",
  params: Type.Object({ id: idOf("a network"), ...match }),
  rest: route("networks", "delete"),
  handler: (input, context) => remove(input, context),
});

const vifAddTrafficRule = defineOperation({
  ...ofVif,
  name: "vif.addTrafficRule",
  summary:
    "Allow or drop traffic of a network interface, before the rules of its network, or change the rule of the same traffic.",
  params: Type.Object({ id: idOf("a VIF"), ...match, allow }),
  rest: route("vifs", "add"),
  handler: (input, context) => {
    checkNetwork(input.id, context);
    return add(input, context);
  },
});

const vifDeleteTrafficRule = defineOperation({
  ...ofVif,
  name: "vif.deleteTrafficRule",
  summary: "Delete a traffic rule of a network interface.",
  params: Type.Object({ id: idOf("a VIF"), ...match }),
  rest: route("vifs", "delete"),
  handler: (input, context) => {
    checkNetwork(input.id, context);
    return remove(input, context);
  },
});

interface Named {
  readonly id: string;
}

async function add(
  { id, ...rule }: Named & TrafficMatch & { readonly allow: boolean },
  { objects, services }: OperationContext,
): Promise<true> {
  checkMatch(rule);
  const parts = { objects, queries: services.queries };
  await addTrafficRule(ownerOf(id, parts), rule, parts);
  await services.trafficRules.begin();
  return true;
}

async function remove(
  { id, ...match }: Named & TrafficMatch,
  { objects, services }: OperationContext,
): Promise<true> {
  checkMatch(match);
  const parts = { objects, queries: services.queries };
  await deleteTrafficRule(ownerOf(id, parts), match, parts);
  return true;
}

/** Rules of a VIF precede those of its network, so they require a right on the network too. */
function checkNetwork(id: string, context: OperationContext): void {
  const network = context.objects.get(id, "VIF").object["$network"];
  if (typeof network === "string")
    context.check("operate:set-locking", "network", network);
}

/** Traffic rules of networks and VIFs. */
export const trafficRuleOperations = [
  networkAddTrafficRule,
  networkDeleteTrafficRule,
  vifAddTrafficRule,
  vifDeleteTrafficRule,
];
