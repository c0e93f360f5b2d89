import { Type, type Static } from "typebox";

export const transports = [
  "auto",
  "json-rpc",
  "json-in-xml",
  "xml-rpc",
] as const;

const Tls = Type.Object(
  {
    trust: Type.Enum(["verify", "fingerprint", "first-use", "insecure"], {
      default: "verify",
      description:
        "verify (signed by a trusted CA), fingerprint (pinned, see below), first-use (the first certificate is pinned) or insecure (not verified).",
    }),
    fingerprint: Type.Optional(
      Type.String({
        pattern: "^([0-9A-Fa-f]{2}:?){31}[0-9A-Fa-f]{2}$",
        examples: [
          "AB:CD:EF:01:23:45:67:89:AB:CD:EF:01:23:45:67:89:AB:CD:EF:01:23:45:67:89:AB:CD:EF:01:23:45:67:89",
        ],
        description: "SHA-256 fingerprint of the pool's certificate.",
      }),
    ),
  },
  {
    default: {},
    additionalProperties: false,
    description: "Verification of the pool's certificate.",
  },
);

/** An entry of `pools`. Exactly one of the three password keys is required; see readPassword. */
export const PoolConfig = Type.Object(
  {
    label: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        examples: ["Paris"],
        description: "Display name; default: the first host.",
      }),
    ),
    hosts: Type.Array(Type.String({ minLength: 1, pattern: "^[^\\s@]+$" }), {
      minItems: 1,
      examples: [["192.168.1.1", "192.168.1.2"]],
      description:
        "Hosts of the pool, the coordinator first: name or address, optionally with :port or http://.",
    }),
    user: Type.String({
      default: "root",
      minLength: 1,
      description: "User name at the pool.",
    }),
    password: Type.Optional(
      Type.String({
        minLength: 1,
        examples: ["secret"],
        description:
          "Password. Exactly one of password, passwordFile and passwordEnv is required.",
      }),
    ),
    passwordFile: Type.Optional(
      Type.String({
        minLength: 1,
        examples: ["/run/secrets/paris"],
        description: "File whose first line is the password.",
      }),
    ),
    passwordEnv: Type.Optional(
      Type.String({
        minLength: 1,
        examples: ["PARIS_PASSWORD"],
        description: "Environment variable with the password.",
      }),
    ),
    enabled: Type.Boolean({
      default: true,
      description: "false: the pool is listed but not connected.",
    }),
    readOnly: Type.Boolean({
      default: false,
      description: "true: reject calls that would change the pool.",
    }),
    transport: Type.Optional(
      Type.Enum(transports, {
        examples: ["auto"],
        description: "Overrides xapi.transport for this pool.",
      }),
    ),
    proxy: Type.Optional(
      Type.String({
        pattern: "^https?://",
        examples: ["http://proxy.example:3128"],
        description: "URL of an HTTP proxy for connections to the pool.",
      }),
    ),
    tls: Tls,
  },
  { additionalProperties: false },
);
export type PoolConfig = Static<typeof PoolConfig>;
