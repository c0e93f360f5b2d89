import { Type } from "typebox";
import { milliseconds, section } from "./config-parts.js";
import { secret, text } from "./secret-config.js";

export const OidcConfig = section("Sign-in by OpenID Connect.", {
  issuer: text(
    "",
    "Issuer URL of the provider, as in its discovery document. Empty: no OpenID Connect.",
  ),
  clientId: text("", "Client id of this server at the provider."),
  ...secret("clientSecret", "Client secret; empty for a public client"),
  redirectUrl: text(
    "",
    "Redirect URI as registered at the provider: https://this.server/signin/oidc/callback. Empty: derived from the host of the request.",
  ),
  label: text("OpenID Connect", "Label of the button on the sign-in page."),
  scopes: text(
    "openid profile email",
    "Requested scopes, separated by spaces.",
  ),
  nameClaim: text("preferred_username", "Claim with the user name."),
  groupsClaim: text(
    "",
    "Claim with the names of the user's groups, such as groups. Empty: groups are not synchronized.",
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
  timeoutMs: milliseconds(
    5_000,
    "Timeout of a request to the provider, in ms.",
  ),
});
