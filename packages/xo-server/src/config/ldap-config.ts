import { Type } from "typebox";
import { milliseconds, section } from "./config-parts.js";
import { secret, text } from "./secret-config.js";

const Tls = section("How the directory's certificate is trusted.", {
  trust: Type.Enum(["verify", "fingerprint", "insecure"], {
    default: "verify",
    description:
      "verify (a known authority signed it), fingerprint (the one below) or insecure.",
  }),
  caFile: text("", "File with authorities (PEM) instead of those of Node."),
  fingerprint: text("", "SHA-256 fingerprint of the certificate."),
});

const Groups = section(
  "Groups of the directory become groups here, with those of their members who sign in.",
  {
    base: text("", "Where they are searched; empty: groups are not looked at."),
    filter: text("(objectClass=groupOfNames)", "Which entries are groups."),
    nameAttribute: text("cn", "Attribute with the name of a group."),
    memberAttribute: text("member", "Attribute with the members of a group."),
    memberIs: text(
      "dn",
      "What stands there: dn, or the name of an attribute of the person, such as uid for posixGroup.",
    ),
  },
);

export const LdapConfig = section(
  "Sign-in with the passwords of a directory.",
  {
    urls: Type.Array(Type.String({ pattern: "^ldaps?://[^/@?#]+/?$" }), {
      default: [],
      maxItems: 16,
      description:
        "ldaps://host or ldap://host of the directory; of several the next is asked when one does not answer. None: no LDAP.",
    }),
    startTls: Type.Boolean({
      default: true,
      description:
        "Turn ldap:// into TLS before anything is said. false sends passwords in clear text.",
    }),
    tls: Tls,
    bindDn: text("", "Who searches there; empty: nobody in particular."),
    ...secret("bindPassword", "Password of bindDn"),
    base: text("", "Where people are searched, such as ou=people,dc=example."),
    filter: text(
      "(uid={{name}})",
      "How they are found; {{name}} is what they typed.",
    ),
    nameAttribute: text("uid", "Attribute with the name that they get here."),
    idAttribute: text(
      "entryUUID",
      "Attribute by which somebody is known again, whatever else changes; objectGUID in Active Directory.",
    ),
    groups: Groups,
    adminGroup: text(
      "",
      "Name of the group whose members are admins; others are none then. Empty: rights are given here only.",
    ),
    linkByName: Type.Boolean({
      default: false,
      description:
        "Who signs in for the first time may become a user who is here already with the same name; false: is refused.",
    }),
    timeoutMs: milliseconds(5_000, "A sign-in takes so long at most."),
  },
);
