import type { Messages } from "../en/messages.js";

export const tree: Messages["tree"] = {
  label: "Pools, Hosts und VMs",
  search: "Alle Objekte durchsuchen",
  grouping: "Gruppierung: {by}",
  groupings: {
    host: "Nach Pool und Host",
    tag: "Nach Tag",
    none: "Alle VMs nach Namen",
  },
  rest: "Ohne Host",
  noTag: "Ohne Tag",
  nameless: "(unbenannt)",
  vms: { one: "{n} VM", other: "{n} VMs" },
  loading: "Lädt…",
  empty: "Keine Pools.",
  noVms: "Keine VMs.",
  noMatches: "Keine passenden Objekte.",
  found: { one: "{n} gefunden", other: "{n} gefunden" },
  refused: "Der Baum kann nicht geladen werden: {reason}",
};
