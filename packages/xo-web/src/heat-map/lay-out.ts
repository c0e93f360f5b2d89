import {
  hierarchy,
  treemap,
  type HierarchyRectangularNode,
} from "d3-hierarchy";
import type { HostNode, PoolNode } from "./fleet-tree.js";
import type { Steps } from "./in-slices.js";

/** In pixels. */
export interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface HostArea extends Rect {
  readonly node: HostNode;
  readonly pool: PoolNode;
  /** Height of the strip at the top that shows the host itself. */
  readonly head: number;
  /** Indexes of its cells: from `first` to before `end`. */
  readonly first: number;
  readonly end: number;
}

export interface PoolArea extends Rect {
  readonly node: PoolNode;
  readonly head: number;
}

/** Positions of pools, hosts and VMs (cells), in pixels. */
export interface FleetLayout {
  readonly width: number;
  readonly height: number;
  readonly pools: readonly PoolArea[];
  readonly hosts: readonly HostArea[];
  /** Row in the table of VMs, by cell. */
  readonly vms: Int32Array;
  /** Four numbers by cell: x, y, width, height. */
  readonly rects: Float32Array;
}

export interface LayoutBox {
  readonly width: number;
  readonly height: number;
}

/** Heights of headings with and without room for text. */
const POOL_HEAD = 20;
const HOST_HEAD = 18;
const THIN_HEAD = 4;
/** Area of a host without VMs, as a share of that of an average host. */
const MIN_SHARE = 0.08;

interface Branch {
  readonly pool?: PoolNode;
  readonly host?: HostNode;
  readonly size?: number;
  readonly children?: readonly Branch[];
}

/**
 * Calculates the treemap in steps, so that a caller can pause between them.
 * @param sizeOf weight of a VM by its index, 0 or more
 */
export function* layOut(
  fleet: readonly PoolNode[],
  { width, height }: LayoutBox,
  sizeOf: (vm: number) => number,
): Steps<FleetLayout> {
  const hasPoolHeads = fleet.length > 1;
  const root = hierarchy<Branch>(yield* toBranches(fleet, sizeOf)).sum(
    ({ size = 0 }) => size,
  );
  const tree = treemap<Branch>()
    .size([width, height])
    .paddingInner(({ depth }) => (depth === 0 ? 6 : 3))
    .paddingTop(({ depth }) => (depth === 1 && hasPoolHeads ? POOL_HEAD : 0))(
    root,
  );
  yield;
  const count = fleet.reduce(
    (sum, { hosts }) =>
      sum + hosts.reduce((sum, { vms }) => sum + vms.length, 0),
    0,
  );
  const layout = {
    width,
    height,
    pools: (tree.children ?? []).map((area) => ({
      ...rectOf(area),
      node: area.data.pool!,
      head: hasPoolHeads ? POOL_HEAD : 0,
    })),
    hosts: [] as HostArea[],
    vms: new Int32Array(count),
    rects: new Float32Array(4 * count),
  };
  const areas = (tree.children ?? []).flatMap(({ children }) => children ?? []);
  const named = areas.filter((area) => hasRoomForName(rectOf(area)));
  const isNamed = 2 * named.length >= areas.length;
  let first = 0;
  for (const pool of tree.children ?? [])
    for (const area of pool.children ?? []) {
      const node = area.data.host!;
      const rect = rectOf(area);
      const head = headOf(rect, isNamed);
      const end = first + node.vms.length;
      layout.hosts.push({
        ...rect,
        node,
        pool: pool.data.pool!,
        head,
        first,
        end,
      });
      placeCells(layout, first, { rect, head, node, sizeOf });
      first = end;
      yield;
    }
  return layout;
}

function* toBranches(
  fleet: readonly PoolNode[],
  sizeOf: (vm: number) => number,
): Steps<Branch> {
  const sizes = new Map<HostNode, number>();
  let total = 0;
  for (const { hosts } of fleet)
    for (const host of hosts) {
      const size = host.vms.reduce((sum, vm) => sum + sizeOf(vm), 0);
      sizes.set(host, size);
      total += size;
      yield;
    }
  const least = (MIN_SHARE * total) / Math.max(sizes.size, 1) || 1;
  return {
    children: fleet.map((pool) => ({
      pool,
      children: pool.hosts.map((host) => ({
        host,
        size: Math.max(sizes.get(host)!, least),
      })),
    })),
  };
}

interface CellsRequest {
  readonly rect: Rect;
  readonly head: number;
  readonly node: HostNode;
  readonly sizeOf: (vm: number) => number;
}

/** Largest first; equal ones in the order of the input. */
function placeCells(
  { vms, rects }: Pick<FleetLayout, "vms" | "rects">,
  first: number,
  { rect, head, node, sizeOf }: CellsRequest,
): void {
  const { x, y, width } = rect;
  const height = rect.height - head;
  const side = Math.sqrt((width * height) / Math.max(node.vms.length, 1));
  const data = { vm: -1, children: node.vms.map((vm) => ({ vm })) };
  const root = hierarchy<{ vm: number; children?: { vm: number }[] }>(data)
    .sum(({ vm }) => (vm < 0 ? 0 : Math.max(sizeOf(vm), 1e-9)))
    .sort((a, b) => (b.value ?? 0) - (a.value ?? 0));
  const tree = treemap<{ vm: number }>()
    .size([Math.max(width, 0), Math.max(height, 0)])
    .paddingInner(side > 5 ? 1 : 0)(root);
  for (const [i, leaf] of (tree.children ?? []).entries()) {
    vms[first + i] = leaf.data.vm;
    const at = 4 * (first + i);
    rects[at] = x + leaf.x0;
    rects[at + 1] = y + head + leaf.y0;
    rects[at + 2] = leaf.x1 - leaf.x0;
    rects[at + 3] = leaf.y1 - leaf.y0;
  }
}

function rectOf({
  x0,
  x1,
  y0,
  y1,
}: Pick<HierarchyRectangularNode<unknown>, "x0" | "x1" | "y0" | "y1">): Rect {
  return { x: x0, y: y0, width: x1 - x0, height: y1 - y0 };
}

function headOf(rect: Rect, isNamed: boolean): number {
  if (isNamed && hasRoomForName(rect)) return HOST_HEAD;
  return rect.height >= 4 * THIN_HEAD ? THIN_HEAD : 0;
}

function hasRoomForName({ width, height }: Rect): boolean {
  return height >= 3 * HOST_HEAD && width >= 48;
}
