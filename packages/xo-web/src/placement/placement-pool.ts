import type { ObjectRow } from "../api/object-row.js";

/** The parts of the page, as they stand in its tabs. */
export const placementTabs = [
  "failures",
  "recommendations",
  "rules",
  "automatic",
  "history",
] as const;
export type PlacementTab = (typeof placementTabs)[number];

/** What an address names; else the first. */
export function placementTab(named: string): PlacementTab {
  return placementTabs.find((tab) => tab === named) ?? placementTabs[0];
}

/** Where nobody has said which: the one of last time, else the first by name. */
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

/** The way to a part of the page, with the pool that is looked at. */
export function placementPath(tab: string, pool: string | undefined): string {
  const path = `/placement/${tab}`;
  return pool === undefined ? path : `${path}?pool=${encodeURIComponent(pool)}`;
}
