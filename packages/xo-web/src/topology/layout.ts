import type { CabledNetwork, Link } from "./cabling.js";
import type { TopologyProblem } from "./rows.js";
import { worst } from "./rows.js";
import { groupBy } from "./group-by.js";
import type { HostGroup } from "./host-groups.js";
import type { NetworkVms, TopologyVm } from "./placement.js";

/** Pixels at a zoom of 1. */
export const sizes = {
  hostWidth: 300,
  networkWidth: 268,
  vmWidth: 260,
  fewestWires: 120,
  mostWires: 420,
  gap: 48,
  head: 44,
  port: 28,
  node: 52,
  row: 28,
  slim: 32,
  between: 12,
  margin: 8,
  top: 36,
  middle: 480,
} as const;

/** If there are more hosts, they are drawn without their ports. */
const MAX_WITH_PORTS = 12;

/** Maximum number of VMs that are named. */
const NAMED = 40;

interface Box {
  readonly key: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface HostBox extends Box {
  readonly group: HostGroup;
  /** Whether its ports are not drawn. */
  readonly isSlim: boolean;
}

export interface NetworkBox extends Box {
  readonly cabled: CabledNetwork;
}

/** A line below a group of VMs: the VMs on a host, one of them, or how many more there are. */
type VmLine =
  | {
      readonly kind: "host";
      readonly key: string;
      readonly host: string;
      readonly vms: readonly TopologyVm[];
      readonly isOpen: boolean;
    }
  | { readonly kind: "vm"; readonly key: string; readonly vm: TopologyVm }
  | { readonly kind: "more"; readonly key: string; readonly count: number };

export interface VmBox extends Box {
  readonly network: string;
  readonly vms: NetworkVms;
  readonly isOpen: boolean;
  readonly lines: readonly VmLine[];
}

/** A curve from a port to a network, or from a network to its VMs. */
interface Wire {
  readonly key: string;
  readonly path: string;
  readonly problem: TopologyProblem | undefined;
  readonly vlan: number;
  /** Key of the box of hosts; undefined: it leads to VMs. */
  readonly host: string | undefined;
  readonly port: string | undefined;
  readonly network: string;
}

interface Layout {
  readonly width: number;
  readonly height: number;
  readonly hosts: readonly HostBox[];
  readonly networks: readonly NetworkBox[];
  readonly vms: readonly VmBox[];
  readonly wires: readonly Wire[];
}

interface DiagramInput {
  readonly groups: readonly HostGroup[];
  readonly networks: readonly CabledNetwork[];
  readonly vms: ReadonlyMap<string, NetworkVms>;
  /** Keys of groups of VMs: `network` or `network/host`. */
  readonly opened: ReadonlySet<string>;
  /** Available width in pixels; the diagram may be wider. */
  readonly room: number;
}

/** Positions of hosts with their ports, networks, VMs, and the links between. */
export function layOut({
  groups,
  networks,
  vms,
  opened,
  room,
}: DiagramInput): Layout {
  const isSlim = groups.length > MAX_WITH_PORTS;
  const hosts = stack(groups, (group) => hostHeight(group, isSlim), {
    x: sizes.margin,
    width: sizes.hostWidth,
    room: Math.min(
      networks.length * (sizes.node + sizes.between),
      sizes.middle,
    ),
  }).map((box) => ({ ...box, key: box.of.key, group: box.of, isSlim }));
  const networkX = sizes.margin + sizes.hostWidth + wireRoom(room);
  const vmX = networkX + sizes.networkWidth + sizes.gap;
  const linesOf = new Map(
    networks.map(({ network: { id } }) => [
      id,
      vmLines(id, vms.get(id), opened),
    ]),
  );
  const rows = stack(
    networks,
    ({ network: { id } }) => sizes.node + linesOf.get(id)!.length * sizes.row,
    { x: networkX, width: sizes.networkWidth },
  );
  const networkBoxes = rows.map((row) => ({
    ...row,
    key: row.of.network.id,
    height: sizes.node,
    cabled: row.of,
  }));
  const vmBoxes: VmBox[] = [];
  for (const { of, y, height } of rows) {
    const { id } = of.network;
    const here = vms.get(id);
    if (here === undefined) continue;
    const box = { key: `vms-${id}`, x: vmX, y, width: sizes.vmWidth, height };
    vmBoxes.push({
      ...box,
      network: id,
      vms: here,
      isOpen: opened.has(id),
      lines: linesOf.get(id)!,
    });
  }
  const bottom = Math.max(
    0,
    ...[...hosts, ...rows].map((box) => box.y + box.height),
  );
  return {
    width: vmX + sizes.vmWidth + sizes.margin,
    height: bottom + sizes.margin,
    hosts,
    networks: networkBoxes,
    vms: vmBoxes,
    wires: wiresOf(hosts, networkBoxes, vmBoxes),
  };
}

function stack<T>(
  things: readonly T[],
  heightOf: (thing: T) => number,
  {
    x,
    width,
    room = 0,
  }: {
    readonly x: number;
    readonly width: number;
    /** Centered vertically if there are fewer. */
    readonly room?: number;
  },
) {
  const own = things.reduce((sum, of) => sum + heightOf(of) + sizes.between, 0);
  let y = sizes.top + Math.max(0, Math.floor((room - own) / 2));
  return things.map((of) => {
    const box = { of, x, y, width, height: heightOf(of) };
    y += box.height + sizes.between;
    return box;
  });
}

/** The links take the remaining width. */
function wireRoom(room: number): number {
  const { margin, hostWidth, networkWidth, gap, vmWidth } = sizes;
  const others = 2 * margin + hostWidth + networkWidth + gap + vmWidth;
  return Math.min(Math.max(room - others, sizes.fewestWires), sizes.mostWires);
}

function hostHeight({ hosts }: HostGroup, isSlim: boolean): number {
  if (isSlim) return sizes.slim;
  return sizes.head + (hosts[0]?.ports.length ?? 0) * sizes.port;
}

function vmLines(
  network: string,
  vms: NetworkVms | undefined,
  opened: ReadonlySet<string>,
): readonly VmLine[] {
  if (vms === undefined || !opened.has(network)) return [];
  const lines: VmLine[] = [];
  for (const [host, members] of vms.byHost) {
    const key = `${network}/${host}`;
    const isOpen = opened.has(key);
    lines.push({ kind: "host", key, host, vms: members, isOpen });
    if (!isOpen) continue;
    for (const vm of members.slice(0, NAMED))
      lines.push({ kind: "vm", key: `${key}/${vm.id}`, vm });
    const count = members.length - NAMED;
    if (count > 0) lines.push({ kind: "more", key: `${key}/more`, count });
  }
  return lines;
}

function wiresOf(
  hosts: readonly HostBox[],
  networks: readonly NetworkBox[],
  vms: readonly VmBox[],
): readonly Wire[] {
  const boxes = new Map(networks.map((box) => [box.key, box]));
  const wires: Wire[] = [];
  for (const box of hosts) {
    const first = box.group.hosts[0];
    const ports = first?.ports ?? [];
    // The hosts of a group have the same links.
    const links = groupBy(
      first?.links ?? [],
      ({ network, port }) => `${network}/${port}`,
    );
    for (const [key, same] of links) {
      const link = same[0]!;
      const target = boxes.get(link.network);
      const place = ports.findIndex(({ pif }) => pif.id === link.port);
      if (target === undefined || place < 0) continue;
      const y = box.isSlim
        ? box.y + sizes.slim / 2
        : box.y + sizes.head + (place + 0.5) * sizes.port;
      wires.push(wireTo(target, { key, box, y, links: same }));
    }
  }
  for (const { network, x, y } of vms) {
    const from = boxes.get(network);
    if (from === undefined) continue;
    const middle = y + sizes.node / 2;
    wires.push({
      key: `vms-${network}`,
      network,
      problem: undefined,
      vlan: -1,
      host: undefined,
      port: undefined,
      path: `M${from.x + from.width} ${middle}H${x}`,
    });
  }
  return wires;
}

function wireTo(
  target: NetworkBox,
  from: {
    readonly key: string;
    readonly box: HostBox;
    readonly y: number;
    readonly links: readonly Link[];
  },
): Wire {
  const { key, box, y, links } = from;
  const x = box.x + box.width;
  const half = x + (target.x - x) / 2;
  const end = target.y + sizes.node / 2;
  return {
    key: `${box.key}/${key}`,
    path: `M${x} ${y}C${half} ${y} ${half} ${end} ${target.x} ${end}`,
    problem: worst(links.map(({ problem }) => problem)),
    vlan: links[0]!.pif.vlan,
    host: box.key,
    port: links[0]!.port,
    network: target.key,
  };
}

/**
 * Keys of everything that a box is connected with, including itself: `key` of
 * hosts, networks, VMs and links.
 */
export function connected(layout: Layout, key: string): ReadonlySet<string> {
  const keys = new Set([key]);
  for (const wire of layout.wires) {
    const isOfHost = wire.host === key || `${wire.host}/${wire.port}` === key;
    const isOfNetwork = wire.network === key || `vms-${wire.network}` === key;
    if (!isOfHost && !isOfNetwork) continue;
    keys.add(wire.key).add(wire.network);
    if (wire.host !== undefined)
      keys.add(wire.host).add(`${wire.host}/${wire.port}`);
  }
  for (const { key: own, network } of layout.vms)
    if (keys.has(network)) keys.add(own);
  for (const wire of layout.wires)
    if (wire.host === undefined && keys.has(wire.network)) keys.add(wire.key);
  return keys;
}
