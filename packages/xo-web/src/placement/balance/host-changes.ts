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
        Math.abs(before.cpu - after.cpu) >= 0.005 ||
        Math.abs(before.memory - after.memory) >= 0.005;
      return { host: before.host, before, after, isChanged };
    })
    .sort(
      (a, b) =>
        Number(b.isChanged) - Number(a.isChanged) ||
        fullness(b.before) - fullness(a.before),
    );
}

/** The most loaded host by CPU or memory; undefined: no figures. */
export function busiest(
  figures: readonly HostFigures[],
  by: "cpu" | "memory",
): HostFigures | undefined {
  return figures.reduce<HostFigures | undefined>(
    (best, one) => (best === undefined || one[by] > best[by] ? one : best),
    undefined,
  );
}

function fullness({ cpu, memory }: HostFigures): number {
  return Math.max(cpu, memory);
}
