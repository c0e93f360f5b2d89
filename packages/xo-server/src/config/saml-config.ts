import { Type } from "typebox";
import { section } from "./config-parts.js";
import { text } from "./secret-config.js";

/** Maximum length of the PEM certificates, in characters: enough for several of RSA 4096. */
const MAX_CERTIFICATES = 32_768;

export const SamlConfig = section("Sign-in by SAML 2.0.", {
  signOnUrl: text(
    "",
    "Single sign-on URL of the identity provider (binding HTTP-Redirect). Empty: no SAML.",
  ),
  providerEntityId: text(
    "",
    "Entity ID of the identity provider, as in its metadata.",
  ),
  certificate: Type.String({
    default: "",
    maxLength: MAX_CERTIFICATES,
    description:
      "Certificate with which the identity provider signs, PEM; several, one after another, while it is being replaced.",
  }),
  certificateFile: text("", "File with these certificates."),
  entityId: text(
    "xo-server",
    "Entity ID of this server at the identity provider, which is also the audience of its assertions.",
  ),
  callbackUrl: text(
    "",
    "Assertion consumer service URL as registered at the identity provider: https://this.server/signin/saml/callback. Empty: derived from the host of the request.",
  ),
  label: text("SAML", "Label of the button on the sign-in page."),
  idAttribute: text(
    "",
    "Attribute that identifies a user, and is never assigned to another one. Empty: the NameID, which must not be transient.",
  ),
  nameAttribute: text("", "Attribute with the user name. Empty: the NameID."),
  groupsAttribute: text(
    "",
    "Attribute with the names of the user's groups. Empty: groups are not synchronized.",
  ),
  adminGroup: text(
    "",
    "Name of the group whose members are admins; other users lose the admin permission. Empty: not synchronized.",
  ),
  linkByName: Type.Boolean({
    default: false,
    description:
      "At the first sign-in, link the account to an existing user with the same name. false: reject the sign-in.",
  }),
});
