import type { PoolObject } from "../objects/pool-objects.js";
import type { BridgeHost, BridgeParts } from "./bridge-hosts.js";
import { addRule, deleteRule, type RuleTarget } from "./openflow-plugin.js";
import { isSameMatch, type TrafficRule } from "./traffic-rule.js";
import { ownerOf, targetOf } from "./traffic-rules.js";

/** The rules that must exist on a host for a network or VIF. */
export interface HostRules {
  readonly host: PoolObject;
  /** Id of the network or VIF. */
  readonly ownerId: string;
  readonly target: RuleTarget;
  readonly rules: readonly TrafficRule[];
  /**
   * Changes when the rules have to be added again, because the host was rebooted,
   * or the ports or rules have changed.
   */
  readonly state: string;
}

/**
 * The rules that must exist on each host for a network or VIF.
 * @param id of the network or VIF
 * @param findHosts returns the hosts with the bridge of a network; VIFs of one
 * network share the result
 * @throws XoError NO_SUCH_OBJECT, NOT_CONNECTED
 */
export async function hostRulesOf(
  id: string,
  parts: BridgeParts,
  findHosts: (network: PoolObject) => Promise<readonly BridgeHost[]>,
): Promise<readonly HostRules[]> {
  const of = ownerOf(id, parts);
  const { owner, network } = of;
  const rules = (owner.object["trafficRules"] ?? []) as TrafficRule[];
  const target = targetOf(of);
  const hosts = await findHosts(network);
  return hosts.map(({ host, vifs }) => ({
    host,
    ownerId: owner.id,
    target,
    rules,
    state: JSON.stringify([
      host.object["startTime"],
      target,
      // Rules without a MAC address apply to the ports that exist when they are added.
      owner.type === "network" ? vifs.toSorted() : [],
      rules,
    ]),
  }));
}

/**
 * Removes rules that no longer exist from a host, and adds all others.
 * @param before the rules that were added earlier
 * @throws XoError UNSUPPORTED; XapiError
 */
export async function applyRules(
  { host, target, rules }: HostRules,
  before: Pick<HostRules, "target" | "rules"> | undefined,
): Promise<void> {
  const isMoved =
    before !== undefined &&
    JSON.stringify(before.target) !== JSON.stringify(target);
  for (const rule of before?.rules ?? []) {
    const now = rules.find((one) => isSameMatch(one, rule));
    if (isMoved || now?.allow !== rule.allow)
      await deleteRule(host, before!.target, rule);
  }
  for (const rule of rules) await addRule(host, target, rule);
}
