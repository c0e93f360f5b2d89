export const tree = {
  label: "Pools, hosts and VMs",
  search: "Search all objects",
  grouping: "Grouping: {by}",
  groupings: {
    host: "By pool and host",
    tag: "By tag",
    none: "All VMs by name",
  },
  rest: "No host",
  noTag: "No tag",
  nameless: "(unnamed)",
  /** Behind a name, for screen readers. */
  vms: { one: "{n} VM", other: "{n} VMs" },
  loading: "Loading…",
  empty: "No pools.",
  noVms: "No VMs.",
  noMatches: "No matching objects.",
  found: { one: "{n} found", other: "{n} found" },
  refused: "The tree cannot be loaded: {reason}",
};
