import type { Messages } from "../en/messages.js";

export const signInProviders: Messages["signInProviders"] = {
  lead: "Benutzer eines Verzeichnisses (LDAP) oder eines Identitätsanbieters (OpenID Connect, SAML) melden sich mit ihren eigenen Konten an. Änderungen werden sofort wirksam; lokale Konten bleiben nutzbar.",
  inConfig: "In config.yaml konfiguriert, die Vorrang hat: bitte dort ändern.",
  notConfigured: "Nicht konfiguriert",
  enabled: "Benutzer können sich anmelden",
  saved: "{name} gespeichert und angewendet.",
  deleted: "Die Konfiguration von {name} wurde gelöscht.",
  deleteQuestion: "Konfiguration von {name} löschen?",
  deleteLead:
    "Die Benutzer bleiben, können sich damit aber nicht mehr anmelden.",
  bindPassword: "Bind-Passwort",
  clientSecret: "Client-Secret",
  secretHint: "Wird verschlüsselt gespeichert und nie angezeigt.",
  secretKept: "Ein Geheimnis ist gespeichert. Leer lassen, um es zu behalten.",
  trust: "Zertifikat des Servers",
  trusts: {
    verify: "von einer vertrauenswürdigen Stelle signiert",
    fingerprint: "durch seinen Fingerabdruck festgelegt",
    insecure: "nicht geprüft (unsicher)",
  },
  fingerprint: "SHA-256-Fingerabdruck",
  startTls: "STARTTLS",
  startTlsHint:
    "Für ldap://-URLs. Ohne STARTTLS werden Passwörter im Klartext gesendet.",
  linkByName: "Mit vorhandenen Benutzern gleichen Namens verknüpfen",
  linkByNameHint:
    "Bei der ersten Anmeldung. Sonst wird sie abgelehnt, wenn der Name schon existiert.",
  ldap: {
    urls: {
      label: "Server",
      hint: "ldaps://host oder ldap://host, durch Kommas getrennt; der Reihe nach versucht.",
    },
    bindDn: {
      label: "Bind-DN",
      hint: "Konto, das im Verzeichnis sucht. Leer: anonym.",
    },
    base: {
      label: "Basis-DN der Benutzer",
      hint: "Beispiel: ou=people,dc=example,dc=org",
    },
    filter: {
      label: "Benutzerfilter",
      hint: "{{name}} wird durch den Benutzernamen ersetzt.",
    },
    nameAttribute: {
      label: "Attribut des Benutzernamens",
      hint: "uid, in Active Directory sAMAccountName.",
    },
    idAttribute: {
      label: "Attribut der eindeutigen ID",
      hint: "entryUUID, in Active Directory objectGUID.",
    },
    "groups.base": {
      label: "Basis-DN der Gruppen",
      hint: "Leer: Gruppen werden nicht synchronisiert.",
    },
    "groups.filter": {
      label: "Gruppenfilter",
      hint: "LDAP-Filter der Gruppeneinträge.",
    },
    "groups.nameAttribute": {
      label: "Attribut des Gruppennamens",
      hint: "Meist cn.",
    },
    "groups.memberAttribute": {
      label: "Attribut der Mitglieder",
      hint: "member, uniqueMember oder memberUid.",
    },
    "groups.memberIs": {
      label: "Wert des Mitgliederattributs",
      hint: "dn oder ein Benutzerattribut wie uid.",
    },
    adminGroup: {
      label: "Gruppe der Administratoren",
      hint: "Leer: Administratoren werden nicht synchronisiert.",
    },
  },
  oidc: {
    issuer: {
      label: "Aussteller-URL (Issuer)",
      hint: "Beispiel: https://id.example.org",
    },
    clientId: { label: "Client-ID", hint: "Wie beim Anbieter registriert." },
    redirectUrl: {
      label: "Redirect-URI",
      hint: "Leer: aus der Adresse dieser Seite abgeleitet.",
    },
    label: {
      label: "Beschriftung der Anmeldeschaltfläche",
      hint: "Beschriftung der Schaltfläche auf der Anmeldeseite.",
    },
    scopes: { label: "Scopes", hint: "Durch Leerzeichen getrennt." },
    nameClaim: {
      label: "Claim des Benutzernamens",
      hint: "Claim mit dem Benutzernamen, zum Beispiel preferred_username.",
    },
    groupsClaim: {
      label: "Claim der Gruppen",
      hint: "Leer: Gruppen werden nicht synchronisiert.",
    },
    adminGroup: {
      label: "Gruppe der Administratoren",
      hint: "Leer: Administratoren werden nicht synchronisiert.",
    },
  },
  saml: {
    signOnUrl: {
      label: "Single-Sign-on-URL",
      hint: "Des Identitätsanbieters, mit dem Binding HTTP-Redirect.",
    },
    providerEntityId: {
      label: "Entity-ID des Identitätsanbieters",
      hint: "Wie in seinen Metadaten.",
    },
    entityId: {
      label: "Entity-ID dieses Servers",
      hint: "Wie beim Identitätsanbieter registriert; auch die Audience.",
    },
    callbackUrl: {
      label: "Assertion-Consumer-Service-URL",
      hint: "Leer: aus der Adresse dieser Seite abgeleitet.",
    },
    label: {
      label: "Beschriftung der Anmeldeschaltfläche",
      hint: "Beschriftung der Schaltfläche auf der Anmeldeseite.",
    },
    idAttribute: {
      label: "Attribut der eindeutigen ID",
      hint: "Leer: die NameID, die nicht transient sein darf.",
    },
    nameAttribute: {
      label: "Attribut des Benutzernamens",
      hint: "Leer: die NameID.",
    },
    groupsAttribute: {
      label: "Attribut der Gruppen",
      hint: "Leer: Gruppen werden nicht synchronisiert.",
    },
    adminGroup: {
      label: "Gruppe der Administratoren",
      hint: "Leer: Administratoren werden nicht synchronisiert.",
    },
  },
  samlCertificate: {
    label: "Signaturzertifikat",
    hint: "Des Identitätsanbieters, im PEM-Format; mehrere hintereinander.",
  },
  samlCallback:
    "Diese Assertion-Consumer-Service-URL beim Identitätsanbieter registrieren: {url}",
  samlMetadata: "Metadaten dieses Servers",
  callback: "Diese Redirect-URI beim Anbieter registrieren: {url}",
  test: {
    heading: "LDAP testen",
    ldapLead:
      "Mit den Werten oben, auch ungespeicherten. Es wird kein Benutzer angelegt. Ohne Passwort wird nur der Eintrag gesucht.",
    name: "Benutzername für den Test",
    password: "Passwort für den Test",
    try: "Testen",
    noUser: "Kein solcher Benutzer, oder mehr als ein Eintrag.",
    found: "Der Benutzer wurde gefunden.",
    wrongPassword:
      "Der Benutzer wurde gefunden, aber das Passwort wurde abgelehnt.",
    accepted: "Anmeldung von {name} erfolgreich.",
    groups: "Gruppen: {groups}",
    noGroups: "Keine Gruppen.",
    isAdmin: "Der Benutzer wäre Administrator.",
    isNoAdmin: "Der Benutzer wäre kein Administrator.",
    check: "Anbieter prüfen",
    discovered: "Der Anbieter {issuer} wurde gefunden.",
    unsupported: "Vom Anbieter nicht aufgeführt: {names}",
  },
};
