import type { Host } from "../../objects/infrastructure.js";
import type { Messages } from "../../locale/messages.js";

/** What stands against rebooting the hosts of a pool one after another, as far as the page can see. */
export interface RebootCheck {
  readonly word: keyof Messages["pool"]["checks"];
  readonly isMet: boolean;
  /** Names of hosts, where the check is about some. */
  readonly hosts?: readonly string[];
}

/** @param bearsOneLoss the memory of the others holds all VMs when the biggest host is gone */
export function rebootChecks(
  hosts: readonly Host[],
  bearsOneLoss: boolean | undefined,
): readonly RebootCheck[] {
  const away = namesOf(hosts.filter((host) => host.power_state !== "Running"));
  const disabled = namesOf(
    hosts.filter((host) => host.power_state === "Running" && !host.enabled),
  );
  return [
    { word: "several", isMet: hosts.length > 1 },
    { word: "reachable", isMet: away.length === 0, hosts: away },
    { word: "enabled", isMet: disabled.length === 0, hosts: disabled },
    { word: "room", isMet: bearsOneLoss === true },
  ];
}

function namesOf(hosts: readonly Host[]): readonly string[] {
  return hosts.map(({ id, name_label }) => name_label ?? id.slice(0, 8));
}
