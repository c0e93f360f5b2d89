import { groupBy } from "./group-by.js";
import type { CabledHost } from "./cabling.js";

/** Hosts that are shown as one, because they have the same ports, networks and problems. */
export interface HostGroup {
  /** Key of the group, which stays as long as its first host is in it. */
  readonly key: string;
  readonly hosts: readonly CabledHost[];
}

/** Smaller groups are shown host by host. */
const FEWEST = 4;

/**
 * Groups hosts with equal cabling, so that hosts with different cabling stand out.
 * @param opened keys of groups that are shown host by host
 */
export function groupHosts(
  hosts: readonly CabledHost[],
  opened: ReadonlySet<string>,
): readonly HostGroup[] {
  const alike = groupBy(hosts, signatureOf);
  const groups: HostGroup[] = [];
  for (const members of alike.values()) {
    const key = `hosts-${members[0]!.host.id}`;
    if (members.length >= FEWEST && !opened.has(key))
      groups.push({ key, hosts: members });
    else
      for (const member of members)
        groups.push({ key: member.host.id, hosts: [member] });
  }
  return groups;
}

/** The group of a host that is shown by itself, and whether it can be collapsed. */
export function groupKeyOf(
  hosts: readonly CabledHost[],
  id: string,
): string | undefined {
  const own = hosts.find(({ host }) => host.id === id);
  if (own === undefined) return undefined;
  const signature = signatureOf(own);
  const members = hosts.filter((one) => signatureOf(one) === signature);
  return members.length >= FEWEST ? `hosts-${members[0]!.host.id}` : undefined;
}

function signatureOf({ host, ports, links }: CabledHost): string {
  return JSON.stringify([
    host.power_state,
    host.enabled,
    ports.map(({ pif, members, problem }) => [
      pif.device,
      pif.speed,
      members.map(({ device, carrier }) => [device, carrier]),
      problem,
    ]),
    links
      .map(({ network, pif, problem }) => `${network} ${pif.device} ${problem}`)
      .sort(),
  ]);
}
