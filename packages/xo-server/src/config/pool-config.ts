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
        "verify (a known authority signed it), fingerprint (the one below), first-use (the one first seen) or insecure.",
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
    description: "How the pool's certificate is trusted.",
  },
);

/** One entry of `pools`. Exactly one of the three ways to give a password is needed; see readPassword. */
export const PoolConfig = Type.Object(
  {
    label: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        examples: ["Paris"],
        description: "Name shown to people; the first host when absent.",
      }),
    ),
    hosts: Type.Array(Type.String({ minLength: 1, pattern: "^[^\\s@]+$" }), {
      minItems: 1,
      examples: [["192.168.1.1", "192.168.1.2"]],
      description:
        "Members of the pool, the master first: name or address, with :port or http:// where needed.",
    }),
    user: Type.String({
      default: "root",
      minLength: 1,
      description: "Who signs in.",
    }),
    password: Type.Optional(
      Type.String({
        minLength: 1,
        examples: ["secret"],
        description:
          "The password itself. Exactly one of these three is needed; better one of the two below.",
      }),
    ),
    passwordFile: Type.Optional(
      Type.String({
        minLength: 1,
        examples: ["/run/secrets/paris"],
        description: "A file whose first line is the password.",
      }),
    ),
    passwordEnv: Type.Optional(
      Type.String({
        minLength: 1,
        examples: ["PARIS_PASSWORD"],
        description: "A variable of the environment that holds the password.",
      }),
    ),
    enabled: Type.Boolean({
      default: true,
      description: "false: known, but not connected.",
    }),
    readOnly: Type.Boolean({
      default: false,
      description: "true: refuse calls that would change the pool.",
    }),
    transport: Type.Optional(
      Type.Enum(transports, {
        examples: ["auto"],
        description: "Instead of xapi.transport, for this pool.",
      }),
    ),
    proxy: Type.Optional(
      Type.String({
        pattern: "^https?://",
        examples: ["http://proxy.example:3128"],
        description: "HTTP proxy on the way to the pool.",
      }),
    ),
    tls: Tls,
  },
  { additionalProperties: false },
);
export type PoolConfig = Static<typeof PoolConfig>;
