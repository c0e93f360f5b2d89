import { groupBy } from "./group-by.js";
import {
  worst,
  type HostRow,
  type NetworkRow,
  type PifRow,
  type TopologyProblem,
} from "./rows.js";

/** A connection of a host to the outside: a bond, or a PIF that belongs to no bond. */
export interface Port {
  readonly pif: PifRow;
  /** Members of a bond. */
  readonly members: readonly PifRow[];
  readonly problem: TopologyProblem | undefined;
}

/** The connection of a host to a network through a port. */
export interface Link {
  readonly host: string;
  readonly network: string;
  /** Id of the port's PIF. */
  readonly port: string;
  readonly pif: PifRow;
  readonly problem: TopologyProblem | undefined;
}

export interface CabledHost {
  readonly host: HostRow;
  readonly ports: readonly Port[];
  readonly links: readonly Link[];
}

export interface CabledNetwork {
  readonly network: NetworkRow;
  /** VLAN; -1: none. Undefined: the network is internal, no host has a PIF in it. */
  readonly vlan: number | undefined;
  readonly device: string | undefined;
  /** Hosts without a PIF in the network, although other hosts have one. */
  readonly missing: readonly string[];
  readonly links: readonly Link[];
}

export interface Cabling {
  readonly hosts: readonly CabledHost[];
  readonly networks: readonly CabledNetwork[];
}

interface CablingInput {
  readonly hosts: readonly HostRow[];
  readonly networks: readonly NetworkRow[];
  readonly pifs: readonly PifRow[];
}

/** Which host reaches which network through which port, and the problems. */
export function toCabling({ hosts, networks, pifs }: CablingInput): Cabling {
  const byHost = groupBy(pifs, ({ $host }) => $host);
  const networkById = new Map(networks.map((one) => [one.id, one]));
  const cabled = hosts
    .map((host) => cableHost(host, byHost.get(host.id) ?? [], networkById))
    .sort((a, b) => byName(a.host, b.host));
  const links = groupBy(
    cabled.flatMap((host) => host.links),
    ({ network }) => network,
  );
  // Networks of members of a bond carry no traffic.
  const partsOnly = new Set(
    pifs.filter((pif) => pif.isBondSlave).map((pif) => pif.$network),
  );
  return {
    hosts: cabled,
    networks: networks
      .filter(({ id }) => links.has(id) || !partsOnly.has(id))
      .map((network) => cableNetwork(network, links.get(network.id), hosts))
      .sort(byPosition),
  };
}

function cableHost(
  host: HostRow,
  pifs: readonly PifRow[],
  networks: ReadonlyMap<string, NetworkRow>,
): CabledHost {
  const isRunning = host.power_state === "Running";
  const members = groupBy(pifs, ({ bondMaster }) => bondMaster);
  const ports = pifs
    .filter((pif) => !pif.isBondSlave && pif.vlan < 0)
    .map((pif) => toPort(pif, members.get(pif.id) ?? [], isRunning))
    .sort((a, b) => compare(a.pif.device, b.pif.device));
  const portOf = new Map(ports.map((port) => [port.pif.device, port]));
  const links: Link[] = [];
  for (const pif of pifs) {
    const port = portOf.get(pif.device);
    if (port === undefined || pif.isBondSlave) continue;
    const network = networks.get(pif.$network ?? "");
    if (network === undefined) continue;
    links.push({
      host: host.id,
      network: network.id,
      port: port.pif.id,
      pif,
      // The last known state of a disconnected host is not shown.
      problem: isRunning ? linkProblem(port, pif, network) : undefined,
    });
  }
  return { host, ports, links };
}

function toPort(
  pif: PifRow,
  members: readonly PifRow[],
  isRunning: boolean,
): Port {
  const sorted = members.toSorted((a, b) => compare(a.device, b.device));
  return {
    pif,
    members: sorted,
    problem: isRunning ? portProblem() : undefined,
  };

  function portProblem(): TopologyProblem | undefined {
    const isDown =
      members.length > 0 && members.every((member) => !member.carrier);
    if (isDown || !pif.carrier) return pif.attached ? "down" : "unplugged";
    if (!pif.attached) return "unplugged";
    return members.some((member) => !member.carrier)
      ? "bond-member"
      : undefined;
  }
}

function linkProblem(
  port: Port,
  pif: PifRow,
  network: NetworkRow,
): TopologyProblem | undefined {
  const hasOtherMtu =
    pif.attached &&
    pif.mtu !== undefined &&
    network.MTU !== undefined &&
    pif.mtu !== network.MTU;
  return worst([
    port.problem === "unplugged" ? undefined : port.problem,
    pif.attached ? undefined : "unplugged",
    hasOtherMtu ? "mtu" : undefined,
  ]);
}

function cableNetwork(
  network: NetworkRow,
  links: readonly Link[] = [],
  hosts: readonly HostRow[],
): CabledNetwork {
  const reached = new Set(links.map(({ host }) => host));
  const isOutside = links.length > 0;
  return {
    network,
    vlan: links[0]?.pif.vlan,
    device: links[0]?.pif.device,
    missing: isOutside
      ? hosts.filter(({ id }) => !reached.has(id)).map(({ id }) => id)
      : [],
    links,
  };
}

/** Untagged networks first, by device; then VLANs by tag; internal networks last. */
function byPosition(a: CabledNetwork, b: CabledNetwork): number {
  const rank = ({ vlan }: CabledNetwork) => (vlan === undefined ? 1e6 : vlan);
  return (
    rank(a) - rank(b) ||
    compare(a.device ?? "", b.device ?? "") ||
    byName(a.network, b.network)
  );
}

interface Named {
  readonly id: string;
  readonly name_label?: string;
}

/** For `sort`: objects of the same name by id, so that the diagram does not change. */
export function byName(a: Named, b: Named): number {
  return compare(a.name_label ?? "", b.name_label ?? "") || compare(a.id, b.id);
}

const collator = new Intl.Collator("en", { numeric: true });

function compare(a: string, b: string): number {
  return collator.compare(a, b);
}
