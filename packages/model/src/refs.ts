/** A reference as XAPI writes it: `OpaqueRef:` and a uuid (older pools: any text). */
export type Ref = string;

/** The reference that points nowhere. XAPI never sends `null` or an empty text for it. */
export const NULL_REF: Ref = "OpaqueRef:NULL";

/** Tells whether a value looks like a reference that points to something. */
export function isRef(value: unknown): value is Ref {
  return (
    typeof value === "string" &&
    value.startsWith("OpaqueRef:") &&
    value !== NULL_REF
  );
}
