export const tree = {
  label: "Pools, hosts and VMs",
  search: "Search all objects",
  grouping: "Grouping: {by}",
  groupings: {
    host: "By pool and host",
    tag: "By tag",
    none: "All VMs by name",
  },
  rest: "On no host",
  noTag: "Without a tag",
  nameless: "(no name)",
  /** Behind a name, for screen readers. */
  vms: { one: "{n} VM", other: "{n} VMs" },
  loading: "Loading…",
  empty: "No pools yet.",
  noVms: "No VMs yet.",
  nothingFound: "Nothing is called so.",
  found: { one: "{n} found", other: "{n} found" },
  refused: "The tree cannot be shown: {reason}",
};
