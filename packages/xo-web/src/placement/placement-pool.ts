import type { ObjectRow } from "../api/object-row.js";

/** The tabs of the page in their order. */
export const placementTabs = [
  "failures",
  "recommendations",
  "rules",
  "automatic",
  "history",
] as const;
export type PlacementTab = (typeof placementTabs)[number];

/** The tab of an address, else the first. */
export function placementTab(named: string): PlacementTab {
  return placementTabs.find((tab) => tab === named) ?? placementTabs[0];
}

/** The default pool: the last one chosen, else the first by name. */
export function placementPool(
  pools: readonly ObjectRow[],
  last: string | undefined,
): ObjectRow | undefined {
  const { compare } = new Intl.Collator("en", { numeric: true });
  return (
    pools.find(({ id }) => id === last) ??
    pools.toSorted((a, b) => compare(a.name_label ?? "", b.name_label ?? ""))[0]
  );
}

/** Path of a tab with the chosen pool. */
export function placementPath(tab: string, pool: string | undefined): string {
  const path = `/placement/${tab}`;
  return pool === undefined ? path : `${path}?pool=${encodeURIComponent(pool)}`;
}
