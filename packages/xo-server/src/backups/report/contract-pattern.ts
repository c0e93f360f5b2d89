import { XoError } from "@xo-server/model";

type Members = Readonly<Record<string, unknown>>;

/** Neither null nor an array. */
export function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `{ id: "a" }` or `{ id: { __or: ["a", "b"] } }`, as clients of Xen Orchestra name objects. */
export function toPattern(ids: readonly string[]): { readonly id: unknown } {
  return ids.length === 1 ? { id: ids[0] } : { id: { __or: [...ids] } };
}

/** @throws XoError INVALID_PARAMETERS */
export function toIds(pattern: object): string[] {
  const { id } = pattern as { readonly id?: unknown };
  if (id === undefined) return [];
  if (typeof id === "string") return [id];
  const or = isObject(id) ? id["__or"] : undefined;
  if (Array.isArray(or) && or.every((one) => typeof one === "string"))
    return [...new Set(or)];
  throw new XoError("INVALID_PARAMETERS", {
    reason: 'id must be an id or {"__or": [ids]}',
  });
}

/** @throws XoError UNSUPPORTED */
export function refuseProxy(proxy: string | null | undefined): void {
  if (typeof proxy === "string" && proxy !== "")
    throw new XoError("UNSUPPORTED", { reason: "proxies are not supported" });
}
