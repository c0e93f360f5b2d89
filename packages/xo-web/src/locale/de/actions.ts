import { actionErrors } from "./action-errors.js";
import { actionNames } from "./action-names.js";
import { importing } from "./importing.js";
import type { Messages } from "../en/messages.js";

export const actions: Messages["actions"] = {
  names: actionNames,
  groups: {
    power: "Ein/Aus",
    work: "Verwalten",
    change: "Bearbeiten",
    danger: "Gefahrenbereich",
  },
  reasons: {
    otherType: "Für diesen Typ nicht verfügbar",
    forbidden: "Dafür fehlt Ihnen die Berechtigung",
    oneOnly: "Nur für ein einzelnes Objekt",
    none: "Für kein ausgewähltes Objekt möglich",
    state: {
      Running: "Die VM läuft",
      Halted: "Die VM ist ausgeschaltet",
      Paused: "Die VM ist pausiert",
      Suspended: "Die VM ist suspendiert",
    },
    noTags: "Keine Tags",
    blocked: "Von einem Administrator gesperrt",
    blockedFor: "Gesperrt: {reason}",
    inProgress: "Dieser Vorgang läuft bereits",
    noTools: "Die Guest Tools laufen nicht",
    defaultTemplate: "Mitgelieferte Vorlage",
    hostDown: "Der Host ist ausgeschaltet",
    hostUp: "Der Host läuft",
    hostDisabled: "Der Host ist deaktiviert",
    hostEnabled: "Der Host ist aktiviert",
    noPowerOn: "Kein Einschaltmodus ist konfiguriert",
    haOn: "Die Hochverfügbarkeit ist aktiviert",
    haOff: "Die Hochverfügbarkeit ist deaktiviert",
    isoSr: "Das SR enthält nur ISO-Images",
    inMaintenance: "Das SR ist im Wartungsmodus",
    notInMaintenance: "Das SR ist nicht im Wartungsmodus",
    hasDisks: "Das SR enthält Festplatten",
    attached: "Bereits verbunden",
    detached: "Nicht verbunden",
    management: "Wird als Management-Schnittstelle verwendet",
    taskEnded: "Die Aufgabe ist beendet",
    notCancellable: "Die Aufgabe kann nicht abgebrochen werden",
    hasVtpm: "Die VM hat bereits ein vTPM",
    noVtpm: "Die VM hat kein vTPM",
  },
  leads: {
    exportSeveral:
      "Eine Datei je VM, nacheinander. Lassen Sie diese Seite geöffnet, und erlauben Sie im Browser mehrere Downloads.",
    cleanShutdown:
      "Das Gastsystem wird heruntergefahren. Seine Dienste sind nicht erreichbar, bis die VM wieder gestartet wird.",
    cleanReboot:
      "Das Gastsystem wird neu gestartet. Seine Dienste sind währenddessen nicht erreichbar.",
    suspend:
      "Der Arbeitsspeicher der VMs wird gespeichert. Sie laufen nicht, bis sie fortgesetzt werden.",
    pause: "Die VMs laufen nicht, bis die Pause beendet wird.",
    coalesce:
      "Snapshot-Ketten der Festplatten werden, wo möglich, zu einem Abbild zusammengeführt; das gibt Speicherplatz auf dem SR frei. Eine laufende VM ist währenddessen suspendiert.",
    hardShutdown:
      "Die VM wird ohne Herunterfahren des Gastsystems ausgeschaltet. Nicht auf die Festplatte geschriebene Daten gehen verloren.",
    hardReboot:
      "Die VM wird ohne Herunterfahren des Gastsystems neu gestartet. Nicht auf die Festplatte geschriebene Daten gehen verloren.",
    revert: "Alle Änderungen seit dem Snapshot gehen verloren.",
    toTemplate:
      "Eine Vorlage kann nicht gestartet werden. Aus ihr können VMs erstellt werden, und sie kann wieder in eine VM umgewandelt werden.",
    toVm: "Die VM kann gestartet werden. VMs können nicht mehr aus ihr erstellt werden.",
    hostEnable: "Der Host nimmt wieder VMs an.",
    evacuate:
      "Laufende VMs werden auf andere Hosts des Pools migriert. Der Host bleibt aktiviert und nimmt neue VMs an.",
    hostRestart:
      "VMs werden zuerst auf andere Hosts migriert. Kann eine VM nicht migriert werden, startet der Host nicht neu.",
    smartRestart:
      "Die VMs des Hosts werden suspendiert und nach dem Neustart fortgesetzt. Während des Neustarts laufen sie nicht.",
    hostStop:
      "VMs werden zuerst auf andere Hosts migriert. Der Host bleibt aus, bis er eingeschaltet wird.",
    toolstack:
      "XAPI wird auf dem Host neu gestartet. VMs laufen weiter. Laufende Vorgänge auf dem Host schlagen fehl.",
    installUpdates:
      "Fehlende Updates werden auf diesem Host installiert, während seine VMs laufen. Der Host wird nicht neu gestartet, sein Toolstack auch nicht: Updates, die das erfordern, wirken erst danach. Das rollierende Update eines Pools erledigt beides.",
    coordinator:
      "Der Pool ist kurze Zeit nicht erreichbar, und laufende Vorgänge können fehlschlagen. VMs laufen weiter.",
    "host.emergencyShutdown":
      "VMs werden suspendiert, wo das möglich ist, sonst ausgeschaltet. Sie werden nicht migriert.",
    "host.detach":
      "Der Host bildet danach einen eigenen Pool. Seine lokalen Festplatten werden gelöscht.",
    "host.forget":
      "Der Host wird mit den Festplatten auf seinem lokalen Speicher endgültig aus dem Pool entfernt.",
    enableHa:
      "Fällt ein Host aus, werden seine geschützten VMs auf anderen Hosts neu gestartet.",
    disableHa:
      "Fällt ein Host aus, werden seine VMs nicht auf anderen Hosts neu gestartet.",
    addHost:
      "Ein eigenständiger Host tritt diesem Pool bei. Er muss dieselbe Version und darf keine laufenden VMs haben. Seine eigenen SRs und Netzwerke werden durch die des Pools ersetzt. Rückgängig machen lässt sich das nur durch Entfernen aus dem Pool, das seine lokalen Festplatten löscht.",
    poolManagement:
      "Alle Hosts sind ab jetzt über ein anderes Netzwerk erreichbar. Ist dort eine Adresse falsch oder nicht geroutet, ist der Pool für diesen Server nicht mehr erreichbar, bis das an den Konsolen der Hosts behoben ist.",
    hostManagement:
      "Der Host ist ab jetzt über eine andere Schnittstelle erreichbar. Ist deren Adresse falsch oder nicht geroutet, ist der Host für seinen Pool und diesen Server nicht mehr erreichbar, bis das an seiner Konsole behoben ist.",
    resetCertificate:
      "Das Zertifikat des Hosts wird gelöscht und durch ein neues, selbst signiertes ersetzt. Verbindungen zum Host werden getrennt; dieser Server und andere verbinden sich erst wieder, wenn das neue Zertifikat akzeptiert ist.",
    refreshCertificate:
      "Das Zertifikat, mit dem die Hosts des Pools einander vertrauen, wird durch ein neues ersetzt. Das Zertifikat für Clients wird nicht geändert.",
    certificate:
      "XAPI verwendet auf dem Host sofort das neue Zertifikat. Verbindungen zum Host werden getrennt; Clients, die nur dem alten vertrauen, müssen angepasst werden, auch dieser Server.",
    createVtpm:
      "Das Gastsystem erhält beim nächsten Start ein virtuelles TPM 2.0, wie Windows 11 es verlangt. Seine Geheimnisse werden bei der VM gespeichert.",
    destroyVtpm:
      "Alle Schlüssel im vTPM gehen verloren. Festplatten, die das Gastsystem damit verschlüsselt hat, etwa mit BitLocker, sind nur noch mit ihrem Wiederherstellungsschlüssel lesbar. Das kann nicht rückgängig gemacht werden.",
    "pool.emergencyShutdown":
      "VMs werden suspendiert, wo das möglich ist, sonst ausgeschaltet. Danach werden alle Hosts heruntergefahren.",
    disconnect:
      "Danach kann kein Host auf das SR zugreifen. Wird abgelehnt, solange Festplatten des SRs verwendet werden.",
    "sr.forget":
      "Das SR und die Namen seiner Festplatten werden aus dem Pool entfernt. Die Daten auf dem Speicher werden nicht gelöscht.",
    "sr.destroy":
      "Alle Daten auf dem Speicher werden gelöscht. Das kann nicht rückgängig gemacht werden.",
    resize:
      "Eine Festplatte kann vergrößert, aber nicht verkleinert werden. Die Partitionen des Gastsystems werden nicht geändert.",
    deleteDisk:
      "Alle Daten auf der Festplatte gehen verloren. Das kann nicht rückgängig gemacht werden.",
    deleteNetwork:
      "Seine VLANs und Bonds werden auch gelöscht. Wird abgelehnt, solange eine laufende VM das Netzwerk verwendet.",
    pifDisconnect:
      "Alles, was diese Schnittstelle des Hosts verwendet, verliert die Netzwerkverbindung.",
    taskDestroy:
      "Die Aufgabe wird aus dem Pool entfernt. Der Vorgang selbst läuft eventuell weiter.",
  },
  fields: {
    host: "Host",
    sr: "SR",
    name: "Name",
    description: "Beschreibung",
    tag: "Tag",
    tags: "Tags",
    folder: "Ordner",
    folderHint:
      "Zum Beispiel /Produktion/Web. Leer: kein Ordner. XenCenter zeigt dieselben Ordner.",
    newFolder: "Der Ordner {folder} ist neu.",
    tagsHint: "Durch Kommas getrennt",
    size: "Größe (GiB)",
    compression: "Kompression",
    format: "Format",
    snapshotBefore: "Zuerst einen Snapshot des aktuellen Zustands erstellen",
    migrateBack:
      "VMs zurückmigrieren, die für den Wartungsmodus evakuiert wurden",
    forceRestart: "Auch neu starten, wenn eine VM nicht migriert werden kann",
    heartbeatSr: "Heartbeat-SR",
    heartbeatSrHint: "Leer: vom Pool ausgewählt",
    saveMemory:
      "Mit Arbeitsspeicher (die VM wird in diesem Zustand fortgesetzt)",
    quiesce: "Dateisysteme des Gastsystems stilllegen (Quiesce)",
    snapshotName: "Leer: Name der VM und Zeit",
    kind: "Art der Kopie",
    kindFast: "Schneller Klon, teilt Daten mit dieser VM",
    kindFull: "Vollständige Kopie auf demselben SR",
    kindRunningHint: "Ein schneller Klon ist möglich, wenn die VM aus ist",
    namePattern: "Namen der Kopien",
    namePatternHint: "{name} steht für den Namen der VM.",
    kindElsewhere:
      "Vollständige Kopie auf ein anderes SR oder in einen anderen Pool",
    srHint: "Für eine Kopie auf ein anderes SR oder in einen anderen Pool",
    network: "Netzwerk",
    managementNetworkHint:
      "Jeder Host braucht darin eine Schnittstelle mit IP-Adresse",
    managementPifHint: "Nur Schnittstellen mit IP-Adresse werden aufgeführt",
    joiningHostHint:
      "Nur ein Host, der der einzige seines Pools ist, kann beitreten",
    forceJoin:
      "Auch hinzufügen, wenn seine CPUs sich von denen des Pools unterscheiden",
    certificate: "Zertifikat",
    certificateHint: "PEM, beginnt mit -----BEGIN CERTIFICATE-----",
    privateKey: "Privater Schlüssel",
    privateKeyHint: "PEM (PKCS #8, RSA), ohne Passphrase",
    chain: "Zwischenzertifikate",
    chainHint: "PEM, eines nach dem anderen",
    pif: "Schnittstelle",
    pifHint: "Leer: internes Netzwerk, nur innerhalb eines Hosts",
    bondPif: "Schnittstelle {n}",
    bondMode: "Bond-Modus",
    bondModeHint: "LACP muss auch am Switch konfiguriert sein.",
    bondModes: {
      "active-backup": "Active-Backup",
      "balance-slb": "Lastverteilung (balance-slb)",
      lacp: "LACP (802.3ad)",
    },
    vlan: "VLAN",
    mtu: "MTU",
    shutdownPinnedVms:
      "VMs, die nicht migriert werden können, herunterfahren und danach starten",
  },
  deleteVm: {
    lead: "Alle Daten auf diesen Festplatten gehen verloren. Das kann nicht rückgängig gemacht werden.",
    disks: {
      one: "{n} Festplatte wird gelöscht",
      other: "{n} Festplatten werden gelöscht",
    },
    shared: "bleibt: von einer anderen VM verwendet",
    snapshots: {
      one: "{n} Snapshot wird auch gelöscht",
      other: "{n} Snapshots werden auch gelöscht",
    },
    running: {
      one: "Die VM läuft. Sie wird zuerst ausgeschaltet.",
      other: "{n} VMs laufen. Sie werden zuerst ausgeschaltet.",
    },
    kept: {
      one: "{n} Festplatte bleibt: Eine andere VM verwendet sie",
      other: "{n} Festplatten bleiben: Andere VMs verwenden sie",
    },
    counting: "Festplatten und Snapshots werden gezählt…",
    notCounted: "Die Festplatten konnten nicht gezählt werden: {reason}",
    keepDisks: "Festplatten behalten",
  },
  maintenance: {
    lead: "VMs werden auf andere Hosts des Pools migriert. Der Host ist deaktiviert, bis der Wartungsmodus endet.",
    vms: { one: "{n} VM wird migriert", other: "{n} VMs werden migriert" },
    free: "Die anderen Hosts haben {size} freien Arbeitsspeicher.",
    notEnough: "Zu wenig freier Arbeitsspeicher: Die Anfrage wird abgelehnt.",
    checking: "Es wird geprüft, ob alle VMs migriert werden können…",
    unchecked: "Ob alle VMs migriert werden können, ließ sich nicht prüfen.",
    blocked: {
      one: "Die Migration einer VM ist gesperrt:",
      other: "Die Migration von {n} VMs ist gesperrt:",
    },
    stuck: {
      one: "{n} VM kann nicht migriert werden. Sie muss zuerst heruntergefahren werden, sonst wird die Anfrage abgelehnt:",
      other:
        "{n} VMs können nicht migriert werden. Sie müssen zuerst heruntergefahren werden, sonst wird die Anfrage abgelehnt:",
    },
    moveBlocked: "Gesperrte VMs trotzdem migrieren",
  },
  importing,
  vmware: {
    connectLead: "VMs eines ESXi-Hosts oder eines vCenter-Servers.",
    chooseLead:
      "VMs, die ausgeschaltet sind und keine Snapshots haben. Sie werden kopiert; an der Quelle ändert sich nichts.",
    connect: "Verbinden",
    start: "Importieren",
    host: "Host",
    hostHint: "Name oder Adresse eines ESXi-Hosts oder eines vCenter-Servers",
    user: "Benutzer",
    password: "Passwort",
    fingerprint: "Fingerabdruck des Zertifikats (SHA-256)",
    accept: "Zertifikat akzeptieren",
    fingerprintHint:
      "Nur wenn das Zertifikat nicht von einer vertrauenswürdigen Stelle signiert ist: Die Fehlermeldung nennt ihn; vergleichen Sie ihn mit dem des Hosts.",
    search: "Suchen",
    stop: "Laufende VMs vor dem Import herunterfahren",
    stopHint:
      "Sie bleiben an der Quelle ausgeschaltet, auch wenn der Import fehlschlägt.",
    networks: "Das Netzwerk dieses Pools für jedes Netzwerk der Quelle:",
    off: "ausgeschaltet",
    notOff: "nicht ausgeschaltet",
    memory: "{size} Arbeitsspeicher",
    disks: { one: "{n} Festplatte", other: "{n} Festplatten" },
    importing: {
      one: "{n} VM wird von {host} importiert",
      other: "{n} VMs werden von {host} importiert",
    },
    seeTasks: "Der Fortschritt steht in den Aufgaben.",
    done: { one: "{n} VM importiert", other: "{n} VMs importiert" },
    failed: {
      one: "{n} VM wurde nicht importiert",
      other: "{n} VMs wurden nicht importiert",
    },
  },
  srMaintenance: {
    lead: "VMs mit Festplatten auf dem SR werden heruntergefahren und alle Hosts getrennt. Die VMs starten, wenn der Wartungsmodus endet.",
    vms: {
      one: "{n} VM wird heruntergefahren:",
      other: "{n} VMs werden heruntergefahren:",
    },
  },
  newSr: {
    lead: "Vorhandene Daten auf dem Speicher bleiben erhalten, außer wenn eine lokale Festplatte formatiert wird.",
    button: "SR erstellen",
    kind: "Typ",
    host: "Host, der den Speicher sucht oder die lokale Festplatte hat",
    probe: "Suchen",
    probing: "Suche läuft…",
    nothing: "Kein Speicher gefunden.",
    pathHints: {
      nfs: "Etwa /exports/vms.",
      isoNfs: "Server und Pfad, etwa nas.example.org:/exports/iso.",
      isoSmb: "Etwa \\\\nas.example.org\\iso.",
      isoLocal: "Ein Verzeichnis, das es auf dem Host gibt, etwa /var/opt/iso.",
    },
    kinds: {
      nfs: "NFS",
      iscsi: "iSCSI (LVM)",
      hba: "Fibre Channel (LVM)",
      ext: "Lokale Festplatte (ext)",
      lvm: "Lokale Festplatte (LVM)",
      isoNfs: "ISO-Images auf NFS",
      isoSmb: "ISO-Images auf SMB",
      isoLocal: "ISO-Images in einem Verzeichnis eines Hosts",
    },
    fields: {
      server: "Server",
      serverPath: "Pfad auf dem Server",
      nfsVersion: "NFS-Version (optional)",
      target: "Zielserver",
      chapUser: "CHAP-Benutzer (optional)",
      chapPassword: "CHAP-Passwort (optional)",
      targetIqn: "Ziel-IQN",
      scsiId: "SCSI-ID der LUN",
      device: "Gerät, zum Beispiel /dev/sdb",
      path: "Pfad",
      user: "Benutzer",
      password: "Passwort",
    },
  },
  edit: {
    lead: "Bei leeren Feldern und „unverändert“ behält jede VM ihre Einstellung.",
    unchanged: "unverändert",
    cpus: "vCPUs",
    memory: "Arbeitsspeicher (GiB)",
    ha: "Hochverfügbarkeit",
    haModes: {
      none: "Nicht neu starten",
      bestEffort: "Wenn möglich neu starten",
      restart: "Neu starten",
    },
    autoPowerOn: "Mit dem Host starten",
    on: "ja",
    off: "nein",
  },
  free: "{size} frei",
  more: "Mehr",
  moreOf: "Weitere Aktionen für {name}",
  bar: "Aktionen",
  heading: "{action}: {name}",
  many: { one: "{n} Objekt", other: "{n} Objekte" },
  some: "{able} von {all}",
  leftOutNames: "Übersprungen: {names} ({reason})",
  leftOut: {
    one: "{n} ausgewähltes Objekt wird übersprungen: {reason}",
    other: "{n} ausgewählte Objekte werden übersprungen: {reason}",
  },
  reading: "Die ausgewählten Objekte werden gelesen…",
  typeToConfirm: "Zum Bestätigen {name} eingeben",
  choose: "Auswählen…",
  searchObject: "Zum Suchen tippen",
  moreObjects: "{n} weitere: Tippen schränkt die Suche ein.",
  noObject: "Keine passenden Objekte",
  missing: "Erforderlich.",
  tooSmall: "Mindestens {least}",
  tooLarge: "Höchstens {most}",
  running: "Läuft",
  done: "Erledigt",
  doneAfter: "Erledigt in {span}",
  downloading: "Der Download hat begonnen.",
  undone: "Rückgängig gemacht",
  undoFailed: "Rückgängigmachen fehlgeschlagen",
  open: "Öffnen",
  tasks: "Aufgaben",
  /** Opens the dialog of a failed action again. */
  reopen: "Wiederholen…",
  progress: "{done} von {total}",
  notFetched:
    "Der Browser hat diesen Download nicht gestartet: Erlauben Sie für diese Seite mehrere Downloads.",
  progressFailed: "{done} von {total}, {failed} fehlgeschlagen",
  allDone: { one: "{n} erledigt", other: "Alle {n} erledigt" },
  someFailed: "{succeeded} erledigt, {failed} fehlgeschlagen",
  notBegun: "{n} nicht gestartet",
  details: "Details",
  failures: "Fehlgeschlagene Objekte",
  failuresLeftOut: "und {n} weitere",
  retryFailed: {
    one: "Erneut versuchen",
    other: "{n} fehlgeschlagene erneut versuchen",
  },
  errors: actionErrors,
};
