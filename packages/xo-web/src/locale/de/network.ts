import type { Messages } from "../messages.js";

export const network: Messages["network"] = {
  tabs: {
    general: "Allgemein",
    vms: "VMs",
    events: "Aufgaben und Ereignisse",
  },
  cards: {
    settings: "Einstellungen",
    hosts: "Hosts",
    reach: "Wer es erreicht",
    vms: "Schnittstellen von VMs (VIFs)",
  },
  facts: {
    bridge: "Bridge",
    vlan: "VLAN",
    mtu: "MTU",
    bond: "Bond",
    automatic: "Neue VMs bekommen eine Schnittstelle dazu",
    locked:
      "Schnittstellen lassen nichts durch, wenn nichts anderes gesagt ist",
    nbd: "NBD-Verbindungen (TLS)",
    insecureNbd: "NBD ohne TLS",
    hosts: "Hosts",
    vms: "VMs",
  },
  columns: {
    vm: "VM",
    device: "Gerät",
    mac: "MAC",
    locking: "Sperre",
    state: "Zustand",
  },
  lockings: {
    network_default: "wie das Netzwerk sagt",
    locked: "nur bestimmte Adressen",
    unlocked: "alles",
    disabled: "nichts",
  },
  missing:
    "Fehlt auf {hosts}: VMs mit einer Schnittstelle dazu können dort nicht starten und nicht dorthin ziehen.",
  everyHost: "Jeder Host des Pools erreicht es.",
  internal: "Kein Weg hinaus: Nur VMs auf demselben Host erreichen einander.",
  otherMtu: "Andere MTU auf {hosts}, als das Netzwerk sagt.",
  down: "Keine Verbindung auf {hosts}.",
  unplugged: "Nicht verbunden auf {hosts}.",
  noVifs: "Keine VM hat eine Schnittstelle dazu.",
  more: "und {n} mehr",
  inTopology: "Im Bild",
  untagged: "keines",
};
