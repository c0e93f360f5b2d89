import type { Catalog, Predicate, ViewObject } from "@xo-server/inventory";

/**
 * Whether the caller may read a VM; undefined: the caller may read all VMs,
 * including deleted ones.
 */
export type MaySee = ((vm: string) => boolean) | undefined;

/** Which VMs of runs the caller may see. @param readable undefined: all */
export function toMaySee(
  catalog: Pick<Catalog, "get">,
  readable: Predicate | undefined,
): MaySee {
  if (readable === undefined) return undefined;
  return (vm) => {
    const entry = catalog.get(vm);
    return (
      entry !== undefined &&
      readable(JSON.parse(entry.json.toString()) as ViewObject)
    );
  };
}

/** Whether the caller may read this VM. */
export function isVisible(vm: string, maySee: MaySee): boolean {
  return maySee?.(vm) ?? true;
}
