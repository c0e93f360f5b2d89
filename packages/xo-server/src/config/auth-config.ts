import { Type } from "typebox";
import { section } from "./config-parts.js";

const hours = (description: string) =>
  Type.Integer({ default: 720, minimum: 1, maximum: 4_392, description });

export const AuthConfig = section("Local users, and sessions of all users.", {
  minPasswordLength: Type.Integer({
    default: 8,
    minimum: 1,
    maximum: 256,
    description:
      "Minimum number of characters of new passwords; existing passwords remain valid. Not applied in the demo.",
  }),
  requireSecondFactor: Type.Enum(["none", "administrators", "all"] as const, {
    default: "none",
    description:
      "Users who must have a second factor (TOTP) when they sign in with a password, LDAP included: none, administrators or all. Users without one can only set it up.",
  }),
  sessionIdleMinutes: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 263_520,
    description:
      "A session ends after this time without use, in minutes, at least 5; 0: no limit. Does not apply to tokens of the API or to remembered sessions (Stay signed in).",
  }),
  sessionHours: hours(
    "A session ends after this time even if it is in use, in hours.",
  ),
  rememberedSessionHours: hours(
    "The same for remembered sessions (Stay signed in), which last beyond the end of the browser, in hours.",
  ),
});
