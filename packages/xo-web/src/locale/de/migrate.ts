import type { Messages } from "../messages.js";

export const migrate: Messages["migrate"] = {
  lead: "Hosts mit dem meisten Platz stehen zuerst.",
  target: "Ziel",
  memory: "Arbeitsspeicher",
  cpu: "CPU",
  best: "Am meisten Platz",
  freeThen: "{now} frei, dann {after}",
  thenShare: "{now}, dann {after}",
  disksMove: "Auch ihre Platten müssen umziehen",
  otherPools: "Auch Hosts anderer Pools",
  moveDisks: "Platten auf andere SRs verschieben",
  disks: "Platten",
  networks: "Netze",
  interface: "Schnittstelle",
  srFree: "{name} · {size} frei",
  srLacks: "Dort fehlen {size}",
  through: "Netz, durch das die Daten gehen",
  management: "Das der Verwaltung",
  moved: "{memory} Arbeitsspeicher und {disks} von Platten werden übertragen.",
  why: "Ziel: {name}.",
  button: "Verschieben",
  reasons: {
    down: "Ist aus",
    disabled: "Nimmt gerade keine VMs an",
    here: "Schon dort",
    halted:
      "Ausgeschaltet: Sie kann auf jedem Host ihres Pools starten. Platten verschieben, oder einen anderen Pool wählen.",
    cpu: "CPUs eines anderen Herstellers",
    memory: "{size} Arbeitsspeicher zu wenig",
    network: "Hat {names} nicht",
  },
};
