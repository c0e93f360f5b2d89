import { Type } from "typebox";
import { milliseconds, section } from "./config-parts.js";
import { secret, text } from "./secret-config.js";

export const MailConfig = section("The mail server that alarms are sent by.", {
  host: text("", "Its name or address; empty: no mail is sent."),
  port: Type.Integer({
    default: 587,
    minimum: 1,
    maximum: 65_535,
    description: "587 with starttls, 465 with tls, as a rule.",
  }),
  security: Type.Enum(["starttls", "tls", "none"], {
    default: "starttls",
    description:
      "starttls (clear text becomes TLS, or nothing is sent), tls from the start, or none: passwords in clear text.",
  }),
  verify: Type.Boolean({
    default: true,
    description: "Its certificate must be of a known authority.",
  }),
  username: text("", "Who sends; empty: nobody signs in."),
  ...secret("password", "Password of username"),
  from: text("xo-server@localhost", "Sender of the messages."),
  timeoutMs: milliseconds(
    20_000,
    "A step of the sending takes so long at most.",
  ),
});
