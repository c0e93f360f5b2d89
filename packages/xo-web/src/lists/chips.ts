import { formatFilter, parseFilter, type Filter } from "@xo-server/filter";
import type { Messages } from "../locale/messages.js";

/** A term of the filter that a click adds or removes. */
interface Chip {
  readonly id: keyof Messages["lists"]["chips"];
  /** In the filter language. */
  readonly term: string;
}

/**
 * At most one chip of a row is active, because their terms exclude each other, such
 * as running and halted.
 */
const byType: Readonly<Record<string, readonly Chip[]>> = {
  VM: [
    { id: "running", term: "power_state:Running" },
    { id: "halted", term: "power_state:Halted" },
    { id: "suspended", term: "power_state:Suspended" },
    { id: "paused", term: "power_state:Paused" },
  ],
  "VM-template": [
    { id: "own", term: "!isDefaultTemplate?" },
    { id: "delivered", term: "isDefaultTemplate?" },
  ],
  host: [
    { id: "running", term: "power_state:Running" },
    { id: "maintenance", term: "!enabled?" },
    { id: "notRunning", term: "!power_state:Running" },
    { id: "rebootRequired", term: "rebootRequired?" },
  ],
  SR: [
    { id: "disks", term: "!SR_type:|(iso udev)" },
    { id: "isos", term: "SR_type:iso" },
    { id: "drives", term: "SR_type:udev" },
  ],
  network: [
    { id: "bonded", term: "isBonded?" },
    { id: "automatic", term: "automatic?" },
  ],
  PIF: [
    { id: "physical", term: "physical?" },
    { id: "vlans", term: "vlan:>=0" },
    { id: "noLink", term: "!carrier?" },
    { id: "management", term: "management?" },
  ],
  VDI: [{ id: "unattached", term: "!$VBDs:/./" }],
  message: [
    { id: "alarms", term: "name:ALARM" },
    { id: "events", term: "!name:ALARM" },
  ],
};

/** Quick filters of a type of objects. */
export function chipsOf(type: string): readonly Chip[] {
  return (Object.hasOwn(byType, type) && byType[type]) || [];
}

/** The chip whose term is in a filter; a filter that cannot be read has none. */
export function activeChip(
  filter: string,
  chips: readonly Chip[],
): Chip | undefined {
  const terms = new Set(termsOf(filter)?.map(formatFilter));
  return chips.find(({ term }) => terms.has(canonical(term)));
}

/** The filter without the terms of any of the chips. */
export function withoutChips(filter: string, chips: readonly Chip[]): string {
  const terms = termsOf(filter);
  if (terms === undefined) return filter;
  const away = new Set(chips.map(({ term }) => canonical(term)));
  const kept = terms.filter((term) => !away.has(formatFilter(term)));
  return kept.length === terms.length
    ? filter
    : formatFilter({ kind: "and", terms: kept });
}

/** Adds the chip's term, replacing another chip's; removes it if it was active. */
export function toggleChip(
  filter: string,
  chip: Chip,
  chips: readonly Chip[],
): string {
  const rest = withoutChips(filter, chips);
  if (activeChip(filter, chips) === chip) return rest;
  return `${rest} ${chip.term}`.trim();
}

function canonical(term: string): string {
  return formatFilter(parseFilter(term));
}

/** Terms that all must match; undefined: the text cannot be parsed, for example while the user types. */
function termsOf(filter: string): readonly Filter[] | undefined {
  try {
    const tree = parseFilter(filter);
    return tree.kind === "and" ? tree.terms : [tree];
  } catch {
    return undefined;
  }
}
