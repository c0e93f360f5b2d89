import type { LiveRequest } from "@xo-server/inventory";

const WINDOW = { offset: 0, limit: 50 };

/**
 * Queries of ten users: mostly lists of machines, in many orders, most of them on their first page.
 */
export const fleetQueries: readonly LiveRequest[] = [
  { type: "VM", ...WINDOW },
  { type: "VM", filter: "power_state:Running", ...WINDOW },
  { type: "VM", search: "web prod", ...WINDOW },
  {
    type: "VM",
    filter: "power_state:Running memory:size:>=8589934592",
    sort: [{ by: "memory.size", descending: true }],
    ...WINDOW,
  },
  { type: "VM", filter: "name_label:/^p04.-db/", ...WINDOW },
  { type: "VM", sort: [{ by: "power_state" }], offset: 5000, limit: 50 },
  { type: "host", ...WINDOW },
  { type: "SR", sort: [{ by: "physical_usage", descending: true }], ...WINDOW },
  { type: "pool", offset: 0, limit: 100 },
  {
    type: "VM",
    filter: "power_state:Halted",
    fields: ["name_label", "power_state", "tags"],
    ...WINDOW,
  },
];
