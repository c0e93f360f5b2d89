import type { Messages } from "../en/messages.js";

export const network: Messages["network"] = {
  tabs: {
    general: "Allgemein",
    vms: "VMs",
    events: "Aufgaben und Ereignisse",
  },
  cards: {
    settings: "Einstellungen",
    hosts: "Hosts",
    reach: "Verfügbarkeit",
    vms: "VM-Schnittstellen (VIFs)",
  },
  facts: {
    bridge: "Bridge",
    vlan: "VLAN",
    mtu: "MTU",
    bond: "Bond",
    automatic: "Neuen VMs automatisch hinzufügen",
    locked: "VIFs standardmäßig sperren",
    nbd: "NBD-Verbindungen (TLS)",
    insecureNbd: "NBD ohne TLS",
    hosts: "Hosts",
    vms: "VMs",
  },
  columns: {
    vm: "VM",
    device: "Gerät",
    mac: "MAC",
    locking: "Sperrmodus",
    state: "Zustand",
  },
  lockings: {
    network_default: "Standard des Netzwerks",
    locked: "nur erlaubte Adressen",
    unlocked: "entsperrt",
    disabled: "deaktiviert",
  },
  missing:
    "Fehlt auf {hosts}: VMs in diesem Netzwerk können dort nicht starten oder dorthin migriert werden.",
  everyHost: "Auf jedem Host des Pools verfügbar.",
  internal: "Internes Netzwerk: VMs erreichen nur VMs auf demselben Host.",
  otherMtu: "MTU auf {hosts} weicht vom Netzwerk ab.",
  down: "Kein Link auf {hosts}.",
  unplugged: "Getrennt auf {hosts}.",
  noVifs: "Keine VM verwendet dieses Netzwerk.",
  more: "und {n} weitere",
  inTopology: "In Topologie anzeigen",
  untagged: "keines",
};
