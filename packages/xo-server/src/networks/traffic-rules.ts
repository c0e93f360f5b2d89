import { XoError } from "@xo-server/model";
import type { PoolObject } from "../objects/pool-objects.js";
import { findBridgeHosts, type BridgeParts } from "./bridge-hosts.js";
import { addRule, deleteRule, type RuleTarget } from "./openflow-plugin.js";
import {
  isSameMatch,
  MAX_RULES,
  readTrafficRules,
  TRAFFIC_RULES_KEY,
  writeTrafficRules,
  type TrafficMatch,
  type TrafficRule,
} from "./traffic-rule.js";

/** A network or a VIF with traffic rules. */
interface RuleOwner {
  readonly owner: PoolObject;
  readonly network: PoolObject;
}

/** Finds the network of a network or VIF. @throws XoError NO_SUCH_OBJECT, NOT_CONNECTED */
export function ownerOf(id: string, { objects }: BridgeParts): RuleOwner {
  const owner = objects.get(id, "network", "VIF");
  const network =
    owner.type === "network"
      ? owner
      : objects.get(String(owner.object["$network"]), "network");
  return { owner, network };
}

/** Where the plugin installs the rules: on a bridge, or for one MAC address of it. */
export function targetOf({ owner, network }: RuleOwner): RuleTarget {
  const bridge = String(network.object["bridge"]);
  return owner.type === "network"
    ? { bridge }
    : { bridge, mac: String(owner.object["MAC"]) };
}

/**
 * Adds a rule on each host and in the record, or replaces the rule for the same
 * traffic.
 * @throws XoError INVALID_PARAMETERS, UNSUPPORTED; XapiError
 */
export async function addTrafficRule(
  of: RuleOwner,
  rule: TrafficRule,
  parts: BridgeParts,
): Promise<void> {
  const before = await readRules(of.owner);
  const others = before.filter((one) => !isSameMatch(one, rule));
  if (others.length >= MAX_RULES)
    throw new XoError("INVALID_PARAMETERS", {
      reason: `there are ${others.length} rules; at most ${MAX_RULES} are possible`,
    });
  const replaced = before.find((one) => isSameMatch(one, rule));
  const target = targetOf(of);
  const hosts = await findBridgeHosts(of.network, parts);
  for (const { host } of hosts) {
    // A rule with the opposite action has another priority, so it would not be
    // replaced on the hosts.
    if (replaced !== undefined && replaced.allow !== rule.allow)
      await removeFrom(host, { target, rule: replaced, others });
    await addRule(host, target, rule);
  }
  await writeRules(of.owner, [...others, rule]);
}

/**
 * Deletes a rule in the record and on each host.
 * @throws XoError INVALID_PARAMETERS: there is no such rule; UNSUPPORTED; XapiError
 */
export async function deleteTrafficRule(
  of: RuleOwner,
  match: TrafficMatch,
  parts: BridgeParts,
): Promise<void> {
  const before = await readRules(of.owner);
  const rule = before.find((one) => isSameMatch(one, match));
  if (rule === undefined)
    throw new XoError("INVALID_PARAMETERS", {
      reason: `there is no such rule (known rules: ${before.map(toText).join("; ") || "none"})`,
    });
  const others = before.filter((one) => one !== rule);
  const target = targetOf(of);
  for (const { host } of await findBridgeHosts(of.network, parts))
    await removeFrom(host, { target, rule, others });
  await writeRules(of.owner, others);
}

/** Deletes a rule on the hosts. The plugin also deletes narrower rules, which are added again. */
async function removeFrom(
  host: PoolObject,
  removal: {
    readonly target: RuleTarget;
    readonly rule: TrafficRule;
    readonly others: readonly TrafficRule[];
  },
): Promise<void> {
  const { target, rule, others } = removal;
  await deleteRule(host, target, rule);
  for (const other of others) await addRule(host, target, other);
}

/** Read from the pool, because the mirror may be outdated. */
async function readRules({ xapi, ref, type }: PoolObject) {
  const entries = await xapi.call(`${type}.get_other_config`, [ref]);
  return readTrafficRules(
    (entries as Readonly<Record<string, string>>)[TRAFFIC_RULES_KEY],
  );
}

async function writeRules(
  { xapi, ref, type }: PoolObject,
  rules: readonly TrafficRule[],
): Promise<void> {
  const key = TRAFFIC_RULES_KEY;
  await xapi.call(`${type}.remove_from_other_config`, [ref, key]);
  if (rules.length > 0)
    await xapi.call(`${type}.add_to_other_config`, [
      ref,
      key,
      writeTrafficRules(rules),
    ]);
}

function toText({ protocol, port, direction, ipRange }: TrafficMatch): string {
  const ports = port === undefined ? "" : ` ${port}`;
  return `${protocol}${ports} ${direction} ${ipRange}`;
}
