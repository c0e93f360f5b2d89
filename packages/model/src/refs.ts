/** A XAPI reference: `OpaqueRef:` and a UUID (older pools: any string). */
export type Ref = string;

/** The null reference. XAPI never sends `null` or an empty string for it. */
export const NULL_REF: Ref = "OpaqueRef:NULL";

/** Whether a value is a reference other than the null reference. */
export function isRef(value: unknown): value is Ref {
  return (
    typeof value === "string" &&
    value.startsWith("OpaqueRef:") &&
    value !== NULL_REF
  );
}
