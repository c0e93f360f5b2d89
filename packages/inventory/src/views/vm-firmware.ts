import type { XapiRecord } from "../store/record-rows.js";
import { memberOf, toNonEmptyText } from "./values/plain.js";
import { readXmlElements } from "./values/xml-elements.js";

/**
 * Unsupported firmwares by the text of the recommendations: a fleet has a few
 * dozen different texts.
 */
const cache = new Map<string, ReadonlySet<string>>();
const MAX_CACHED = 256;

const PREFIX = "supports-";

/** False only if the template's recommendations exclude the VM's firmware. */
export function isFirmwareSupported(record: XapiRecord): boolean {
  const { recommendations } = record;
  // Most recommendations do not mention firmware and need no parsing.
  if (typeof recommendations !== "string" || !recommendations.includes(PREFIX))
    return true;
  const firmware = toNonEmptyText(memberOf(record.HVM_boot_params, "firmware"));
  return !ruledOut(recommendations).has(firmware ?? "bios");
}

function ruledOut(recommendations: string): ReadonlySet<string> {
  const cached = cache.get(recommendations);
  if (cached !== undefined) return cached;
  const firmwares = readRuledOut(recommendations);
  if (cache.size >= MAX_CACHED) cache.clear();
  cache.set(recommendations, firmwares);
  return firmwares;
}

/** Reads elements like `<restriction field="supports-bios" value="no"/>`. */
function readRuledOut(recommendations: string): ReadonlySet<string> {
  const firmwares = new Set<string>();
  for (const { name, attributes } of readXmlElements(recommendations) ?? []) {
    const field = attributes.get("field") ?? "";
    const value = attributes.get("value");
    const isRuledOut = value === "no" || value === "false";
    if (name === "restriction" && field.startsWith(PREFIX) && isRuledOut)
      firmwares.add(field.slice(PREFIX.length));
  }
  return firmwares;
}
