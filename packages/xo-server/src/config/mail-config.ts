import { Type } from "typebox";
import { milliseconds, section } from "./config-parts.js";
import { secret, text } from "./secret-config.js";

export const MailConfig = section(
  "SMTP server for notifications and reports.",
  {
    host: text("", "Host name or address; empty: no mail is sent."),
    port: Type.Integer({
      default: 587,
      minimum: 1,
      maximum: 65_535,
      description: "Port, usually 587 with starttls and 465 with tls.",
    }),
    security: Type.Enum(["starttls", "tls", "none"], {
      default: "starttls",
      description:
        "starttls (required), tls (from the start of the connection) or none (clear text, passwords included).",
    }),
    verify: Type.Boolean({
      default: true,
      description: "Verify the certificate of the server.",
    }),
    username: text("", "User name; empty: no authentication."),
    ...secret("password", "Password of username"),
    from: text("xo-server@localhost", "Sender address (From)."),
    timeoutMs: milliseconds(
      20_000,
      "Timeout of each step of the SMTP session, in ms.",
    ),
  },
);
