/** What the page displays when an action fails; codes are mapped in actions/plan/error-message.ts. */
export const actionErrors = {
  forbidden: "Keine Berechtigung. Ein Administrator kann das Recht erteilen.",
  notConnected:
    "Der Server antwortet nicht. Es wurde nichts geändert: Versuchen Sie es erneut, wenn er verbunden ist.",
  lost: "Verbindung verloren. Der Vorgang läuft eventuell noch: siehe Aufgaben.",
  gone: "Das Objekt existiert nicht mehr.",
  busy: "Ein anderer Vorgang läuft für dieses Objekt. Danach erneut versuchen.",
  state: "Im aktuellen Zustand nicht erlaubt: {reason}",
  noMemory: "Kein Host hat genug freien Arbeitsspeicher.",
  cannotLeave:
    "Nichts wurde geändert. Diese VMs können auf keinen anderen Host migriert werden: {vms}.",
  andMore: "und {n} weitere",
  noHost:
    "Kein Host kann die VM ausführen: Arbeitsspeicher, Speicher oder ein Netzwerk fehlt.",
  memoryOrder:
    "Die Grenzen des Arbeitsspeichers müssen in dieser Reihenfolge stehen: statisches Minimum, dynamisches Minimum, dynamisches Maximum, statisches Maximum.",
  snapshot:
    "Mit einem Snapshot nicht möglich. Die VM auf ihn zurücksetzen oder ihn klonen.",
  noSpace: "Auf dem SR ist nicht genug Platz frei.",
  alreadyBonded:
    "Eine Schnittstelle gehört bereits zu einem Bond. Eine andere auswählen oder den Bond zuerst löschen.",
  haEnabled:
    "Nicht möglich, solange die Hochverfügbarkeit aktiviert ist. Sie zuerst deaktivieren.",
  noPif:
    "Ein Host hat keine Schnittstelle in diesem Netzwerk. Das Netzwerk zuerst auf jedem Host verbinden.",
  noPifAddress:
    "Eine Schnittstelle hat keine IP-Adresse. Zuerst für jeden Host eine konfigurieren.",
  keyMismatch: "Der private Schlüssel gehört nicht zum Zertifikat.",
  someFailed: "{failed} von {total} fehlgeschlagen: {reasons}",
  noTools: "Das Gastsystem antwortet nicht. Eventuell fehlen die Guest Tools.",
};
