import { Type } from "typebox";
import { milliseconds, section } from "./config-parts.js";
import { secret, text } from "./secret-config.js";

export const OidcConfig = section("Sign-in at an OpenID Connect provider.", {
  issuer: text(
    "",
    "Address of the provider, as in its discovery document. Empty: no OpenID Connect.",
  ),
  clientId: text("", "Who this server is there."),
  ...secret("clientSecret", "Its secret there, if it has one"),
  redirectUrl: text(
    "",
    "Where the provider sends people back to, as registered there: https://this.server/signin/oidc/callback. Empty: that of the host that the browser asked.",
  ),
  label: text("OpenID Connect", "How the way to sign in is called."),
  scopes: text("openid profile email", "What is asked of the provider."),
  nameClaim: text(
    "preferred_username",
    "Claim with the name that people get here.",
  ),
  groupsClaim: text(
    "",
    "Claim with the names of their groups, such as groups: these become groups here. Empty: groups are not looked at.",
  ),
  adminGroup: text(
    "",
    "Name of the group whose members are admins; others are none then. Empty: rights are given here only.",
  ),
  linkByName: Type.Boolean({
    default: false,
    description:
      "Who signs in for the first time may become a user who is here already with the same name; false: is refused.",
  }),
  timeoutMs: milliseconds(
    5_000,
    "An answer of the provider takes so long at most.",
  ),
});
