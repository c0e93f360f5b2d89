import type { HostFigures } from "@xo-server/placement";
import type { Recommendation } from "./recommendation.js";

/** A host before and after a plan. */
export interface HostChange {
  readonly host: string;
  readonly before: HostFigures;
  readonly after: HostFigures;
  readonly isChanged: boolean;
}

/** Changed hosts first, each group by load. */
export function hostChanges({
  figuresBefore = [],
  figuresAfter = [],
}: Recommendation): readonly HostChange[] {
  const then = new Map(figuresAfter.map((one) => [one.host, one]));
  return figuresBefore
    .map((before): HostChange => {
      const after = then.get(before.host) ?? before;
      const isChanged =
        before.vms !== after.vms ||
        hasChanged(before.cpu, after.cpu) ||
        hasChanged(before.memory, after.memory);
      return { host: before.host, before, after, isChanged };
    })
    .sort(
      (a, b) =>
        Number(b.isChanged) - Number(a.isChanged) ||
        maxLoad(b.before) - maxLoad(a.before),
    );
}

function hasChanged(before = 0, after = 0): boolean {
  return Math.abs(before - after) >= 0.005;
}

/** The most loaded host by CPU or memory; undefined: no figures. */
export function busiest(
  figures: readonly HostFigures[],
  by: "cpu" | "memory",
): { readonly host: string; readonly share: number } | undefined {
  let best: { host: string; share: number } | undefined;
  for (const { host, [by]: share } of figures)
    if (share !== undefined && (best === undefined || share > best.share))
      best = { host, share };
  return best;
}

/** Hosts whose use of CPU is unknown: they have no current metrics. */
export function unmeasuredHosts({
  figuresBefore = [],
}: Recommendation): readonly string[] {
  return figuresBefore
    .filter(({ cpu }) => cpu === undefined)
    .map(({ host }) => host);
}

function maxLoad({ cpu = 0, memory }: HostFigures): number {
  return Math.max(cpu, memory);
}
