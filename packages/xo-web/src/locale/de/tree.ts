import type { Messages } from "../messages.js";

export const tree: Messages["tree"] = {
  label: "Pools, Hosts und VMs",
  search: "Alles durchsuchen",
  grouping: "Gruppiert: {by}",
  groupings: {
    host: "Nach Pool und Host",
    tag: "Nach Tag",
    none: "Alle VMs nach Namen",
  },
  rest: "Auf keinem Host",
  noTag: "Ohne Tag",
  nameless: "(ohne Namen)",
  vms: { one: "{n} VM", other: "{n} VMs" },
  loading: "Lädt…",
  empty: "Noch keine Pools.",
  noVms: "Noch keine VMs.",
  nothingFound: "Nichts heißt so.",
  found: { one: "{n} gefunden", other: "{n} gefunden" },
  refused: "Der Baum lässt sich nicht zeigen: {reason}",
};
