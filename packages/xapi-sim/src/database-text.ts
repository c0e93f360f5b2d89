import type { XapiMap, XapiValue } from "./xapi-value.js";

/** A value as XAPI's database writes it: sets and maps are s-expressions, `('a' 'b')`, `(('k' 'v'))`. */
export function databaseText(value: XapiValue): string {
  if (Array.isArray(value))
    return `(${(value as readonly XapiValue[]).map(quoted).join(" ")})`;
  if (typeof value !== "object") return String(value);
  const entries = Object.entries(value as XapiMap).map(
    ([key, item]) => `('${key}' ${quoted(item)})`,
  );
  return `(${entries.join(" ")})`;
}

function quoted(value: XapiValue): string {
  return `'${databaseText(value).replace(/[\\']/g, "\\$&")}'`;
}
