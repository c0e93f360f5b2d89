import type { Refusal } from "../model/refusal.js";
import { DISABLED, UP } from "../pool/indexed-pool.js";
import type { HostRule } from "./host-rule.js";

export const state: HostRule = {
  name: "state",
  allows: ({ pool }, _vm, host) => pool.hostState[host] === UP,
  explain: ({ pool }, _vm, host) => {
    const state = pool.hostState[host];
    if (state === UP) return [];
    return [{ rule: "state", state: state === DISABLED ? "disabled" : "down" }];
  },
};

/** Networks, SRs and required host affinities. */
export const eligibility: HostRule = {
  allows: ({ pool }, vm, host) => pool.eligibility.hostsOf(vm).has(host),
  explain: ({ pool }, vm, host) => {
    const { srs, networks, hostAffinities } =
      pool.eligibility.classes[pool.eligibility.classOf[vm]!]!;
    const model = pool.hostModels[host]!;
    const out: Refusal[] = [];
    for (const sr of srs)
      if (!model.srs.includes(sr)) out.push({ rule: "sr", sr });
    for (const network of networks)
      if (!model.networks.includes(network))
        out.push({ rule: "network", network });
    for (const hostAffinity of hostAffinities) {
      const { hosts, isOnly } = pool.hostAffinities.byNumber[hostAffinity]!;
      if (hosts.has(host) !== isOnly)
        out.push({
          rule: "host-affinity",
          hostAffinity: pool.hostAffinities.models[hostAffinity]!.id,
        });
    }
    return out;
  },
};
