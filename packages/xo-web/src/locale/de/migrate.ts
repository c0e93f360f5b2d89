import type { Messages } from "../en/messages.js";

export const migrate: Messages["migrate"] = {
  lead: "Hosts mit den meisten freien Ressourcen stehen zuerst.",
  target: "Zielhost",
  memory: "Arbeitsspeicher",
  cpu: "CPU",
  best: "Empfohlen",
  freeAfter: "{now} frei, {after} nach der Migration",
  shareAfter: "{now}, {after} nach der Migration",
  disksMove: "Erfordert Speichermigration",
  otherPools: "Hosts anderer Pools einschließen",
  moveDisks: "Festplatten auf andere SRs migrieren",
  disks: "Festplatten",
  networks: "Netzwerke",
  interface: "Schnittstelle",
  srFree: "{name} · {size} frei",
  srLacks: "{size} fehlen auf diesem SR",
  through: "Migrationsnetzwerk",
  management: "Management-Netzwerk",
  moved: "{memory} Arbeitsspeicher und {disks} Festplatten werden übertragen.",
  why: "Ziel: {name}.",
  button: "Migrieren",
  reasons: {
    down: "Host ist ausgeschaltet",
    disabled: "Host ist deaktiviert",
    here: "Aktueller Host",
    halted:
      "Die VM ist ausgeschaltet: Sie kann auf jedem Host ihres Pools starten. Festplatten migrieren oder einen anderen Pool auswählen.",
    cpu: "Anderer CPU-Hersteller",
    memory: "{size} Arbeitsspeicher fehlen",
    network: "Fehlende Netzwerke: {names}",
  },
};
