export const signInProviders = {
  lead: "Users of a directory (LDAP) or of an identity provider (OpenID Connect, SAML) sign in with their own accounts. Changes take effect immediately; local accounts can still be used.",
  inConfig:
    "Configured in config.yaml, which takes precedence: change it there.",
  notConfigured: "Not configured",
  enabled: "Users can sign in",
  saved: "{name} saved and applied.",
  deleted: "The configuration of {name} was deleted.",
  deleteQuestion: "Delete the configuration of {name}?",
  deleteLead: "Its users remain, but can no longer sign in with it.",
  bindPassword: "Bind password",
  clientSecret: "Client secret",
  secretHint: "Stored encrypted and never shown.",
  secretKept: "A secret is stored. Leave empty to keep it.",
  trust: "Certificate of the server",
  trusts: {
    verify: "signed by a trusted authority",
    fingerprint: "pinned by its fingerprint",
    insecure: "not verified (insecure)",
  },
  fingerprint: "SHA-256 fingerprint",
  startTls: "STARTTLS",
  startTlsHint:
    "For ldap:// URLs. Without it, passwords are sent in clear text.",
  linkByName: "Link to existing users of the same name",
  linkByNameHint:
    "At the first sign-in. Otherwise the sign-in is rejected when the name exists.",
  ldap: {
    urls: {
      label: "Servers",
      hint: "ldaps://host or ldap://host, separated by commas; tried in order.",
    },
    bindDn: {
      label: "Bind DN",
      hint: "Account that searches the directory. Empty: anonymous.",
    },
    base: {
      label: "Base DN of users",
      hint: "Example: ou=people,dc=example,dc=org",
    },
    filter: {
      label: "User filter",
      hint: "{{name}} is replaced by the user name.",
    },
    nameAttribute: {
      label: "User name attribute",
      hint: "uid, or sAMAccountName in Active Directory.",
    },
    idAttribute: {
      label: "Unique ID attribute",
      hint: "entryUUID, or objectGUID in Active Directory.",
    },
    "groups.base": {
      label: "Base DN of groups",
      hint: "Empty: groups are not synchronized.",
    },
    "groups.filter": {
      label: "Group filter",
      hint: "LDAP filter of the group entries.",
    },
    "groups.nameAttribute": {
      label: "Group name attribute",
      hint: "Usually cn.",
    },
    "groups.memberAttribute": {
      label: "Member attribute",
      hint: "member, uniqueMember or memberUid.",
    },
    "groups.memberIs": {
      label: "Value of the member attribute",
      hint: "dn, or a user attribute such as uid.",
    },
    adminGroup: {
      label: "Group of administrators",
      hint: "Empty: administrators are not synchronized.",
    },
  },
  oidc: {
    issuer: { label: "Issuer URL", hint: "Example: https://id.example.org" },
    clientId: { label: "Client ID", hint: "As registered at the provider." },
    redirectUrl: {
      label: "Redirect URI",
      hint: "Empty: derived from the address of this page.",
    },
    label: {
      label: "Label of the sign-in button",
      hint: "Text of the button on the sign-in page.",
    },
    scopes: { label: "Scopes", hint: "Separated by spaces." },
    nameClaim: {
      label: "User name claim",
      hint: "Claim with the user name, for example preferred_username.",
    },
    groupsClaim: {
      label: "Groups claim",
      hint: "Empty: groups are not synchronized.",
    },
    adminGroup: {
      label: "Group of administrators",
      hint: "Empty: administrators are not synchronized.",
    },
  },
  saml: {
    signOnUrl: {
      label: "Single sign-on URL",
      hint: "Of the identity provider, with the binding HTTP-Redirect.",
    },
    providerEntityId: {
      label: "Entity ID of the identity provider",
      hint: "As in its metadata.",
    },
    entityId: {
      label: "Entity ID of this server",
      hint: "As registered at the identity provider; also the audience.",
    },
    callbackUrl: {
      label: "Assertion consumer service URL",
      hint: "Empty: derived from the address of this page.",
    },
    label: {
      label: "Label of the sign-in button",
      hint: "Text of the button on the sign-in page.",
    },
    idAttribute: {
      label: "Unique ID attribute",
      hint: "Empty: the NameID, which must not be transient.",
    },
    nameAttribute: {
      label: "User name attribute",
      hint: "Empty: the NameID.",
    },
    groupsAttribute: {
      label: "Groups attribute",
      hint: "Empty: groups are not synchronized.",
    },
    adminGroup: {
      label: "Group of administrators",
      hint: "Empty: administrators are not synchronized.",
    },
  },
  samlCertificate: {
    label: "Signing certificate",
    hint: "Of the identity provider, in PEM format; several one after another.",
  },
  samlCallback:
    "Register this assertion consumer service URL at the identity provider: {url}",
  samlMetadata: "Metadata of this server",
  callback: "Register this redirect URI at the provider: {url}",
  test: {
    heading: "Test LDAP",
    ldapLead:
      "With the values above, also unsaved ones. No user is created. Without a password only the entry is searched.",
    name: "User name for the test",
    password: "Password for the test",
    try: "Test",
    noUser: "No such user, or more than one entry.",
    found: "The user was found.",
    wrongPassword: "The user was found, but the password was rejected.",
    accepted: "Sign-in of {name} succeeded.",
    groups: "Groups: {groups}",
    noGroups: "No groups.",
    isAdmin: "The user would be an administrator.",
    isNoAdmin: "The user would not be an administrator.",
    check: "Check provider",
    discovered: "The provider {issuer} was found.",
    unsupported: "Not listed by the provider: {names}",
  },
};
