import type { Rule } from "../model/rule.js";
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

/** Networks, SRs and locations that leave no choice. */
export const reach: HostRule = {
  allows: ({ pool }, vm, host) => pool.reach.hostsOf(vm).has(host),
  explain: ({ pool }, vm, host) => {
    const { srs, networks, locations } =
      pool.reach.classes[pool.reach.classOf[vm]!]!;
    const model = pool.hostModels[host]!;
    const out: Rule[] = [];
    for (const sr of srs)
      if (!model.srs.includes(sr)) out.push({ rule: "sr", sr });
    for (const network of networks)
      if (!model.networks.includes(network))
        out.push({ rule: "network", network });
    for (const location of locations) {
      const { hosts, isOnly } = pool.locations.byNumber[location]!;
      if (hosts.has(host) !== isOnly)
        out.push({
          rule: "location",
          location: pool.locations.models[location]!.id,
        });
    }
    return out;
  },
};
