import { setImmediate } from "node:timers/promises";
import type { HandlerContext } from "../../operations/operation.js";

/** Replaces the id or name of an object that the caller may not read. */
export const HIDDEN = "hidden";

/** Number of VMs checked per turn of the event loop; parsing each takes about 20 us. */
const CHECKS_PER_TURN = 64;

/**
 * A plan for a caller who may not read all VMs of the pool. All steps remain, so
 * that figures and dependencies are right, but ids of hidden VMs are replaced.
 */
export async function hideVms<T>(
  plan: T,
  vms: readonly { readonly id: string }[],
  { user, objects }: Pick<HandlerContext, "user" | "objects">,
): Promise<T> {
  if (user?.rights.extent("read", "VM") === "all") return plan;
  const ids = vms.map(({ id }) => id);
  const hidden = await hiddenIds(ids, { user, objects });
  return hidden.size === 0 ? plan : (replaceIds(plan, hidden) as T);
}

/** The ids of objects that do not exist, or that the caller may not read. */
export async function hiddenIds(
  ids: Iterable<string>,
  { user, objects }: Pick<HandlerContext, "user" | "objects">,
): Promise<ReadonlySet<string>> {
  const hidden = new Set<string>();
  // In the demo, anonymous clients may read every object.
  if (user === undefined || user.isAdmin) return hidden;
  let count = 0;
  for (const id of ids) {
    const found = objects.find(id);
    if (!found || !user.rights.may("read", found.type, found.object))
      hidden.add(id);
    if (++count % CHECKS_PER_TURN === 0) await setImmediate();
  }
  return hidden;
}

/** The value with other ids, also in keys. */
export function replaceIds(
  value: unknown,
  hidden: ReadonlySet<string>,
): unknown {
  if (typeof value === "string") return hidden.has(value) ? HIDDEN : value;
  if (Array.isArray(value))
    return value.map((one: unknown) => replaceIds(one, hidden));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      hidden.has(key) ? HIDDEN : key,
      replaceIds(one, hidden),
    ]),
  );
}
