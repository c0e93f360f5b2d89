import type { Messages } from "../messages.js";

export const firstRun: Messages["firstRun"] = {
  heading: "Willkommen. Verbinden wir den ersten Pool.",
  another: "Noch einen Pool verbinden",
  lead: "Der Server verfolgt jede Änderung in einem Pool und zeigt sie hier. Er braucht die Adresse eines Hosts und jemanden, der sich dort anmelden darf.",
  add: "Ein eigener Pool",
  addLead:
    "Jeder Host des Pools ist recht, am besten der Koordinator. Bevor das Passwort irgendwohin geht, zeigt der Host sein Zertifikat.",
  demo: "Oder erst einmal umsehen",
  demoLead:
    "Simulierte Pools, die sich wie echte verhalten: Starten, stoppen, verschieben und zerstören Sie, was Sie möchten. Nach einem Neustart des Servers sind sie fort.",
  demoSize: "Wie viel simuliert wird",
  demoOpen: "Simulierte Pools öffnen",
  demoOpening: "Sie werden gestartet…",
  sizes: {
    C: { name: "Klein", hint: "3 Hosts, 60 VMs" },
    B: { name: "Mittel", hint: "16 Hosts, 600 VMs" },
    A: { name: "Groß", hint: "64 Hosts, 5.000 VMs; dauert einige Sekunden" },
  },
  progress: "Wie weit es ist",
  steps: {
    connecting: "Anmelden",
    listing: "Lesen, was es gibt",
    watching: "Jeder Änderung folgen",
  },
  objects: { one: "{n} Objekt", other: "{n} Objekte" },
  hosts: { one: "{n} Host", other: "{n} Hosts" },
  connected: "{name} ist verbunden.",
  correct: "Berichtigen",
  later: "Später",
  notAdmin: "Es gibt noch keine Pools",
  notAdminLead: "Ein Administrator dieses Servers muss den ersten verbinden.",
};
