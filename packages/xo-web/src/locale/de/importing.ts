import type { Messages } from "../en/messages.js";

/** Uploads von VMs, Festplatten und Zusatzpaketen, Importe von einer URL. */
export const importing: Messages["actions"]["importing"] = {
  vmLead:
    "Eine XVA- oder OVA-Datei auf diesem Computer. Diese Seite muss geöffnet bleiben, bis der Upload beendet ist.",
  diskLead:
    "Eine VHD-, VHDX-, VMDK-, qcow2-, Raw- oder ISO-Datei auf diesem Computer. Diese Seite muss geöffnet bleiben, bis der Upload beendet ist.",
  source: "Quelle",
  sources: { file: "Datei auf diesem Computer", url: "URL" },
  vmUrlLead:
    "Eine XVA- oder OVA-Datei auf einem Webserver. xo-server lädt sie herunter: Diese Seite kann inzwischen geschlossen werden.",
  diskUrlLead:
    "Eine VHD-, VHDX-, VMDK-, qcow2-, Raw- oder ISO-Datei auf einem Webserver. xo-server lädt sie herunter: Diese Seite kann inzwischen geschlossen werden.",
  url: "URL",
  urlHint:
    "http oder https. Private Adressen müssen in einem Netz von imports.networks in der Konfiguration des Servers liegen.",
  notUrl: "Keine http- oder https-URL wie https://example.org/disk.vhd",
  network: "Netzwerk der Netzwerkschnittstellen (OVA)",
  networkHint:
    "Einer OVA-Datei; eine XVA-Datei enthält die Namen ihrer Netzwerke.",
  noDefaultSr: "Der Pool hat kein Standard-SR: Wählen Sie ein SR.",
  format: "Format",
  formats: {
    vhd: "VHD",
    raw: "raw",
    iso: "ISO",
    qcow2: "qcow2",
    vmdk: "VMDK",
    vhdx: "VHDX",
  },
  overwriteLead:
    "Der Inhalt der Festplatte wird durch eine VHD-, VHDX-, VMDK-, qcow2- oder Raw-Datei auf diesem Computer ersetzt. Das kann nicht rückgängig gemacht werden. Wird der Upload unterbrochen, ist die Festplatte teilweise überschrieben.",
  overwrite: "Überschreiben",
  isIso:
    "Das ist ein ISO-Abbild: Importieren Sie es als neue Festplatte in ein ISO-SR.",
  tooLarge: "Die Datei ({file}) ist größer als die Festplatte ({disk}).",
  packLead: {
    host: "Ein Zusatzpaket oder Update (ISO-Abbild) wird hochgeladen und auf diesem Host installiert. Diese Seite muss geöffnet bleiben, bis es installiert ist.",
    pool: "Ein Zusatzpaket oder Update (ISO-Abbild) wird hochgeladen und auf allen Hosts des Pools installiert. Diese Seite muss geöffnet bleiben, bis es installiert ist.",
  },
  install: "Installieren",
  file: "Datei",
  srHint: "Leer: Standard-SR des Pools",
  networksLead: "Das Netzwerk dieses Pools für jedes Netzwerk der Datei:",
  emptyFile: "Die Datei ist leer.",
  notDisk:
    "Festplatten in diesem Format ({format}) können nicht importiert werden: Wandeln Sie die Datei in VHD, qcow2 oder raw um.",
  noDescriptor:
    "Die Datei beginnt nicht mit einer OVF-Beschreibung: Sie ist keine gültige OVA-Datei.",
  button: "Importieren",
  sent: "{sent} von {total} ({share})",
  interrupted: "Die Verbindung zum Server brach während des Uploads ab.",
  noPath: "Der Server hat keine Upload-URL geliefert.",
  uploads: {
    import: {
      sending: "{name} wird importiert",
      done: "Importiert: {name}",
      failed: "Import fehlgeschlagen: {name}",
      cancelled: "Import abgebrochen: {name}",
    },
    overwrite: {
      sending: "{name} wird hochgeladen",
      done: "Festplatte mit {name} überschrieben",
      failed: "Upload fehlgeschlagen: {name}",
      cancelled: "Upload abgebrochen: {name}",
    },
    install: {
      sending: "{name} wird installiert",
      done: "Installiert: {name}",
      failed: "Installation fehlgeschlagen: {name}",
      cancelled: "Installation abgebrochen: {name}",
    },
  },
};
