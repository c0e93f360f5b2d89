import { Type } from "typebox";
import { milliseconds, section } from "./config-parts.js";
import { secret, text } from "./secret-config.js";

const Tls = section("Verification of the LDAP server's certificate.", {
  trust: Type.Enum(["verify", "fingerprint", "insecure"], {
    default: "verify",
    description:
      "verify (signed by a trusted CA), fingerprint (pinned, see below) or insecure (not verified).",
  }),
  caFile: text(
    "",
    "File with CA certificates (PEM) that replace those of Node.js.",
  ),
  fingerprint: text("", "SHA-256 fingerprint of the certificate."),
});

const Groups = section(
  "Synchronization of LDAP groups: users become members of these groups when they sign in.",
  {
    base: text(
      "",
      "Base DN of the group search; empty: groups are not synchronized.",
    ),
    filter: text("(objectClass=groupOfNames)", "Filter of the group search."),
    nameAttribute: text("cn", "Attribute with the name of a group."),
    memberAttribute: text("member", "Attribute with the members of a group."),
    memberIs: text(
      "dn",
      "Value of memberAttribute: dn, or the name of a user attribute, such as uid for posixGroup.",
    ),
  },
);

export const LdapConfig = section("Sign-in by LDAP.", {
  urls: Type.Array(Type.String({ pattern: "^ldaps?://[^/@?#]+/?$" }), {
    default: [],
    maxItems: 16,
    description:
      "URLs of the LDAP servers, ldaps://host or ldap://host; tried in order. Empty: no LDAP.",
  }),
  startTls: Type.Boolean({
    default: true,
    description:
      "Use STARTTLS with ldap:// URLs. false: passwords are sent in clear text.",
  }),
  tls: Tls,
  bindDn: text(
    "",
    "DN of the account that searches the directory; empty: anonymous.",
  ),
  ...secret("bindPassword", "Password of bindDn"),
  base: text("", "Base DN of the user search, such as ou=people,dc=example."),
  filter: text(
    "(uid={{name}})",
    "Filter of the user search; {{name}} is replaced by the user name.",
  ),
  nameAttribute: text("uid", "Attribute with the user name."),
  idAttribute: text(
    "entryUUID",
    "Attribute with a unique id that never changes; objectGUID in Active Directory.",
  ),
  groups: Groups,
  adminGroup: text(
    "",
    "Name of the group whose members are admins; other users lose the admin permission. Empty: not synchronized.",
  ),
  linkByName: Type.Boolean({
    default: false,
    description:
      "At the first sign-in, link the account to an existing user with the same name. false: reject the sign-in.",
  }),
  timeoutMs: milliseconds(5_000, "Timeout of a sign-in, in ms."),
});
