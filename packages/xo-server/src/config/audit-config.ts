import { Type, type Static } from "typebox";
import { section } from "./config-parts.js";
import { secret, text } from "./secret-config.js";

/** An entry of `audit.forward`. */
const ForwardTargetConfig = Type.Object(
  {
    name: Type.String({
      pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$",
      examples: ["collector"],
      description:
        "Unique name. The position in the log is stored under this name.",
    }),
    url: Type.String({
      minLength: 1,
      maxLength: 2048,
      examples: ["tls://syslog.example.net:6514"],
      description:
        "udp://host:514, tcp://host:601 or tls://host:6514 (syslog, RFC 5424), https://host/path (JSON lines by POST) or file:///path (JSON lines).",
    }),
    caFile: text(
      "",
      "With tls and https: file with CA certificates (PEM) that replace those of Node.js.",
    ),
    certificateFile: text(
      "",
      "With tls and https: file with a client certificate (PEM).",
    ),
    keyFile: text("", "File with the private key of the client certificate."),
    ...secret("token", "With https: bearer token"),
    existingEntries: Type.Boolean({
      default: false,
      description:
        "Also forward the entries that exist when the server first starts with this target.",
    }),
    maxEntryBytes: Type.Integer({
      default: 8192,
      minimum: 2048,
      maximum: 65_000,
      description:
        "Maximum size of an entry, in bytes. The parameters of larger ones are left out.",
    }),
  },
  { additionalProperties: false },
);
type ForwardTargetConfig = Static<typeof ForwardTargetConfig>;

export const AuditConfig = section("Audit log.", {
  forward: Type.Array(ForwardTargetConfig, {
    default: [],
    maxItems: 8,
    description: "Targets to which each entry of the audit log is forwarded.",
  }),
});
