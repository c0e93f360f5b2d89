import type { Host } from "../../objects/infrastructure.js";
import type { Messages } from "../../locale/messages.js";

/** Obstacles to a rolling reboot that the page can detect. */
interface RebootCheck {
  readonly messageKey: keyof Messages["pool"]["checks"];
  readonly isMet: boolean;
  /** Names of the hosts that the check concerns. */
  readonly hosts?: readonly string[];
}

/**
 * @param toleratesHostFailure whether the other hosts have memory for all VMs when the
 *   largest host fails
 */
export function rebootChecks(
  hosts: readonly Host[],
  toleratesHostFailure: boolean | undefined,
): readonly RebootCheck[] {
  const away = namesOf(hosts.filter((host) => host.power_state !== "Running"));
  const disabled = namesOf(
    hosts.filter((host) => host.power_state === "Running" && !host.enabled),
  );
  return [
    { messageKey: "several", isMet: hosts.length > 1 },
    { messageKey: "reachable", isMet: away.length === 0, hosts: away },
    { messageKey: "enabled", isMet: disabled.length === 0, hosts: disabled },
    { messageKey: "room", isMet: toleratesHostFailure === true },
  ];
}

function namesOf(hosts: readonly Host[]): readonly string[] {
  return hosts.map(({ id, name_label }) => name_label ?? id.slice(0, 8));
}
