import type { Messages } from "../en/messages.js";

export const firstRun: Messages["firstRun"] = {
  heading: "Willkommen. Verbinden Sie Ihren ersten Pool.",
  another: "Weiteren Pool verbinden",
  lead: "Der Server zeigt den Zustand eines Pools und folgt seinen Änderungen. Er braucht die Adresse eines Hosts und die Zugangsdaten eines Benutzers.",
  add: "Pool verbinden",
  addLead:
    "Jeder Host des Pools ist möglich, am besten der Koordinator. Das Zertifikat des Hosts wird angezeigt, bevor das Passwort gesendet wird.",
  demo: "Oder die Demo ausprobieren",
  demoLead:
    "Simulierte Pools, die sich wie echte verhalten: VMs starten, stoppen, migrieren und löschen. Sie werden beim Neustart des Servers gelöscht.",
  demoSize: "Größe der Demo",
  demoOpen: "Simulierte Pools öffnen",
  demoOpening: "Simulierte Pools werden gestartet…",
  sizes: {
    C: { name: "Klein", hint: "3 Hosts, 60 VMs" },
    B: { name: "Mittel", hint: "16 Hosts, 600 VMs" },
    A: { name: "Groß", hint: "64 Hosts, 5.000 VMs; dauert einige Sekunden" },
  },
  progress: "Fortschritt",
  steps: {
    connecting: "Anmelden",
    listing: "Objekte werden geladen",
    watching: "Änderungen verfolgen",
  },
  objects: { one: "{n} Objekt", other: "{n} Objekte" },
  hosts: { one: "{n} Host", other: "{n} Hosts" },
  connected: "{name} ist verbunden.",
  correct: "Bearbeiten",
  later: "Später",
  notAdmin: "Keine Pools verbunden",
  notAdminLead:
    "Ein Administrator dieses Servers muss den ersten Pool verbinden.",
};
