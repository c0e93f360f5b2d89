import type { FleetLayout, HostArea, PoolArea, Rect } from "./lay-out.js";

/** The object at a position of the map. */
export type Spot =
  | { readonly kind: "vm"; readonly cell: number; readonly area: HostArea }
  | { readonly kind: "host"; readonly area: HostArea }
  | { readonly kind: "pool"; readonly area: PoolArea };

/** Finds the object at a position in CSS pixels of the map. */
export function spotAt(
  { hosts, pools, rects }: FleetLayout,
  x: number,
  y: number,
): Spot | undefined {
  const area = hosts.find((host) => isIn(host, x, y));
  if (area === undefined) {
    const pool = pools.find((pool) => isIn(pool, x, y));
    return pool && pool.head > 0 ? { kind: "pool", area: pool } : undefined;
  }
  for (let cell = area.first; cell < area.end; cell++) {
    const at = 4 * cell;
    const right = rects[at]! + rects[at + 2]!;
    const bottom = rects[at + 1]! + rects[at + 3]!;
    if (x >= rects[at]! && x < right && y >= rects[at + 1]! && y < bottom)
      return { kind: "vm", cell, area };
  }
  return y < area.y + area.head ? { kind: "host", area } : undefined;
}

export type Direction = "left" | "right" | "up" | "down";

/** The nearest cell in a direction; the same cell if there is none. */
export function neighbour(
  { rects, vms }: FleetLayout,
  cell: number,
  direction: Direction,
): number {
  const [x, y] = middleOf(rects, cell);
  const isAcross = direction === "left" || direction === "right";
  const sign = direction === "left" || direction === "up" ? -1 : 1;
  let best = cell;
  let least = Infinity;
  for (let other = 0; other < vms.length; other++) {
    const [otherX, otherY] = middleOf(rects, other);
    const ahead = sign * (isAcross ? otherX - x : otherY - y);
    if (ahead < 0.5) continue;
    const across = Math.abs(isAcross ? otherY - y : otherX - x);
    const distance = ahead + 2.5 * across;
    if (distance < least) {
      least = distance;
      best = other;
    }
  }
  return best;
}

/** The host whose VMs a cell is among; undefined: VMs without a host. */
export function areaOf(
  { hosts }: FleetLayout,
  cell: number,
): HostArea | undefined {
  return hosts.find(({ first, end }) => cell >= first && cell < end);
}

/** In CSS pixels; rectangles are four numbers each in one array. */
export function rectOfCell({ rects }: FleetLayout, cell: number): Rect {
  const at = 4 * cell;
  return {
    x: rects[at]!,
    y: rects[at + 1]!,
    width: rects[at + 2]!,
    height: rects[at + 3]!,
  };
}

function middleOf(rects: Float32Array, cell: number): [number, number] {
  const at = 4 * cell;
  return [rects[at]! + rects[at + 2]! / 2, rects[at + 1]! + rects[at + 3]! / 2];
}

function isIn(
  { x, y, width, height }: Rect,
  atX: number,
  atY: number,
): boolean {
  return atX >= x && atX < x + width && atY >= y && atY < y + height;
}
