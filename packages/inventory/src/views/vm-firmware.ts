import type { XapiRecord } from "../store/record-rows.js";
import { memberOf, toGivenText } from "./values/plain.js";
import { readXmlElements } from "./values/xml-elements.js";

/** Firmwares that recommendations rule out, by the text of the recommendations: a fleet has a few dozen of them. */
const known = new Map<string, ReadonlySet<string>>();
const KNOWN_TEXTS = 256;

const PREFIX = "supports-";

/** False only where the template's recommendations say that the guest cannot boot with its firmware. */
export function isFirmwareSupported(record: XapiRecord): boolean {
  const { recommendations } = record;
  // Most say nothing of firmware, and need no reading.
  if (typeof recommendations !== "string" || !recommendations.includes(PREFIX))
    return true;
  const firmware = toGivenText(memberOf(record.HVM_boot_params, "firmware"));
  return !ruledOut(recommendations).has(firmware ?? "bios");
}

function ruledOut(recommendations: string): ReadonlySet<string> {
  const before = known.get(recommendations);
  if (before !== undefined) return before;
  const firmwares = readRuledOut(recommendations);
  if (known.size >= KNOWN_TEXTS) known.clear();
  known.set(recommendations, firmwares);
  return firmwares;
}

/** `<restriction field="supports-bios" value="no"/>`. */
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
