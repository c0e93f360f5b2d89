import type { Messages } from "../en/messages.js";

export const settingsPools: Pick<
  Messages["settings"],
  "inputErrors" | "certificate" | "poolForm" | "serverError" | "servers"
> = {
  inputErrors: {
    required: "Erforderlich.",
    minLength: "Erforderlich.",
    maxLength: "Zu lang.",
    pattern: "Ungültiges Format.",
    minimum: "Wert zu klein.",
    maximum: "Wert zu groß.",
    enum: "Kein zulässiger Wert.",
    type: "Falscher Typ.",
  },
  certificate: {
    heading: "Zertifikat des Hosts",
    trusted: "Das Zertifikat ist von einer vertrauenswürdigen Stelle signiert.",
    distrust: {
      selfSigned:
        "Das Zertifikat von {address} ist selbstsigniert, wie es bei XAPI üblich ist. Prüfen Sie den Fingerabdruck.",
      expired: "Das Zertifikat von {address} ist abgelaufen.",
      notYet: "Das Zertifikat von {address} ist noch nicht gültig.",
      otherName:
        "Das Zertifikat von {address} wurde für einen anderen Namen ausgestellt.",
      unknownAuthority:
        "Das Zertifikat von {address} ist von einer unbekannten Stelle signiert.",
      unnamed: "Das Zertifikat von {address} ist nicht vertrauenswürdig.",
    },
    fingerprint: "SHA-256-Fingerabdruck",
    before: "Akzeptiertes Zertifikat",
    subject: "Inhaber",
    issuer: "Aussteller",
    itself: "selbstsigniert",
    names: "Namen",
    valid: "Gültigkeit",
    validValue: "{from} bis {to}",
  },
  poolForm: {
    plainHttp:
      "Ohne TLS wird das Passwort des Pools unverschlüsselt gesendet und der Host nicht geprüft. Außerhalb von Testnetzen https:// verwenden.",
    host: "Adresse des Hosts",
    hostHint: "Hostname oder IP-Adresse, mit :Port, wenn er nicht 443 ist.",
    username: "Benutzername",
    usernameHint:
      "Ein Benutzer des Pools mit ausreichenden Rechten, meist root.",
    password: "Passwort",
    passwordKept: "Leer lassen, um das aktuelle Passwort zu behalten.",
    passwordMissing: "Ein Passwort ist erforderlich.",
    seenBy:
      "Dieser Server erreicht den Host nicht. Server {server} erreicht ihn und hat dieses Zertifikat erhalten; der Pool wird über ihn verbunden.",
    label: "Anzeigename",
    labelHint: "Leer: die Adresse.",
    readOnly: "Schreibgeschützt",
    readOnlyHint: "Vorgänge, die den Pool ändern, werden abgelehnt.",
    inputErrors: {
      empty:
        "Adresse erforderlich, zum Beispiel 192.0.2.10 oder xen1.example.net.",
      scheme: "Nur https:// und http:// sind erlaubt.",
      login: "Benutzername und Passwort in die eigenen Felder eingeben.",
      port: "Der Port muss zwischen 1 und 65535 liegen.",
      name: "Kein gültiger Hostname und keine gültige IP-Adresse.",
    },
    problems: {
      "name-not-found":
        "Der Hostname kann nicht aufgelöst werden. Prüfen Sie die Schreibweise oder verwenden Sie die IP-Adresse.",
      refused:
        "Verbindung abgelehnt. Prüfen Sie, ob der Toolstack des Hosts läuft.",
      "timed-out":
        "Zeitüberschreitung. Prüfen Sie, ob der Host eingeschaltet ist und keine Firewall die Verbindung verwirft.",
      unreachable:
        "Der Server hat keine Route zu dieser Adresse. Prüfen Sie sein Netzwerk.",
      "not-tls":
        "Der Port verwendet kein TLS. Prüfen Sie den Port, oder setzen Sie für eine unverschlüsselte Verbindung http:// vor die Adresse.",
      proxy: "Der Proxy lehnt die Verbindung ab.",
      "not-a-xapi": "Die Adresse ist kein Host von XenServer oder XCP-ng.",
      starting: "Der Host startet. Versuchen Sie es in einer Minute erneut.",
      member:
        "Dieser Host ist ein Poolmitglied. Der Koordinator des Pools ist {coordinator}.",
    },
    useCoordinator: "{coordinator} verwenden",
    connect: "Verbinden",
    connecting: "Verbindung wird geprüft…",
    back: "Zurück",
    accept: "Zertifikat akzeptieren und verbinden",
    compare: "Vergleichen Sie den Fingerabdruck mit dem des Hosts:",
    changed:
      "Das Zertifikat weicht vom akzeptierten ab. Wurde der Host nicht neu installiert und sein Zertifikat nicht ersetzt, wird die Verbindung vielleicht abgehört. Vergleichen Sie den Fingerabdruck:",
    onConsole:
      "auf seiner lokalen Konsole, in xsconsole unter „Status Display“, oder",
    onShell: "in einer Shell auf dem Host:",
    meaning:
      "Das Passwort wird nur an einen Host mit diesem Zertifikat gesendet. Zertifikate der anderen Poolmitglieder werden bei der ersten Verbindung akzeptiert.",
  },
  serverError: {
    expected: "Akzeptierter Fingerabdruck",
    shown: "Aktueller Fingerabdruck",
    todos: {
      SESSION_AUTHENTICATION_FAILED:
        "Falscher Benutzername oder falsches Passwort. Korrigieren Sie sie hier.",
      RBAC_PERMISSION_DENIED:
        "Dieser Benutzer hat nicht genug Rechte. Verwenden Sie einen Benutzer mit der Rolle Pool Admin.",
      CONNECTION_REFUSED:
        "Prüfen Sie, ob der Host läuft und ob Adresse und Port stimmen. Der Server versucht es automatisch erneut.",
      CONNECTION_LOST: "Der Server verbindet sich automatisch neu.",
      UNREACHABLE:
        "Prüfen Sie die Adresse und das Netzwerk zwischen Server und Host.",
      CONNECTION_TIMEOUT:
        "Prüfen Sie, ob der Host eingeschaltet ist und keine Firewall die Verbindung verwirft. Der Server versucht es automatisch erneut.",
      NO_CANDIDATE:
        "Kein Poolmitglied ist erreichbar. Der Server versucht es weiter bei allen.",
      TLS_UNTRUSTED:
        "Das Zertifikat ist nicht vertrauenswürdig. Prüfen und akzeptieren Sie es.",
      TLS_FINGERPRINT_MISMATCH:
        "Das Zertifikat weicht vom akzeptierten ab. Der Server hat sich nicht angemeldet. Wurde der Host neu installiert, prüfen und akzeptieren Sie das neue Zertifikat.",
      HOST_STILL_BOOTING:
        "Keine Aktion erforderlich. Der Server verbindet sich, sobald der Host läuft.",
      HTTP_STATUS:
        "Prüfen Sie, ob die Adresse zu einem XenServer- oder XCP-ng-Host gehört.",
      BAD_ANSWER:
        "Prüfen Sie, ob die Adresse zu einem XenServer- oder XCP-ng-Host gehört.",
      SECRET_DAMAGED:
        "Das gespeicherte Passwort kann nicht entschlüsselt werden. Geben Sie es erneut ein.",
      STORE_KEY_WRONG:
        "Das gespeicherte Passwort kann nicht entschlüsselt werden. Geben Sie es erneut ein.",
      fallback: "Siehe Fehlermeldung unten.",
    },
  },
  servers: {
    lead: "Verbindungen zu Pools. Änderungen gelten sofort. Pools aus config.yaml können nur dort geändert werden.",
    add: "Pool verbinden",
    edit: "Verbindung zu {name}",
    saved: "Verbindungseinstellungen gespeichert.",
    state: "Zustand",
    name: "Name",
    pool: "Pool",
    trust: "Zertifikat",
    transport: "Transport",
    none: "Keine Pools verbunden",
    noneLead:
      "Verbinden Sie den ersten Pool mit Adresse, Benutzername und Passwort.",
    origins: { config: "siehe config.yaml", demo: "simuliert" },
    pinned: "akzeptiert: {start}…",
    noCertificate: "keines: Das Passwort wird unverschlüsselt gesendet",
    anyCertificate: "nicht geprüft",
    verified: "durch Zertifizierungsstellen geprüft",
    readOnly: "schreibgeschützt",
    objects: { one: "{n} Objekt", other: "{n} Objekte" },
    actions: "Aktionen für {name}",
    enable: "Verbinden",
    disable: "Trennen",
    remove: "Entfernen",
    removed: "{name} entfernt.",
    removeQuestion: "{name} entfernen?",
    removeLead:
      "Die Verbindung, ihr Passwort und ihr akzeptiertes Zertifikat werden gelöscht. Im Pool wird nichts geändert.",
    remedies: {
      login: "Benutzername oder Passwort korrigieren",
      certificate: "Zertifikat prüfen",
      address: "Adresse korrigieren",
    },
  },
};
