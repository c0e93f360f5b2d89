import { Type, type Static } from "typebox";

const closed = { additionalProperties: false } as const;
const id = Type.Optional(
  Type.String({ maxLength: 64, description: "Id of the target in its rule." }),
);
const url = Type.String({ pattern: "^https?://[^\\s@]+$", maxLength: 2_048 });
const header = Type.String({ maxLength: 2_048, pattern: "^[\\x20-\\x7e]*$" });

const Mail = Type.Object(
  {
    id,
    kind: Type.Literal("e-mail"),
    addresses: Type.Array(
      Type.String({ pattern: '^[^\\s@<>,;"]+@[^\\s@<>,;"]+$', maxLength: 254 }),
      {
        minItems: 1,
        maxItems: 50,
        description: "E-mail addresses of the recipients.",
      },
    ),
  },
  closed,
);
const webHook = { id, kind: Type.Literal("web-hook"), url };

/** Chat services; their URLs permit anyone who knows them to send messages. */
export const chatKinds = ["slack", "teams", "mattermost", "ntfy"] as const;
export type ChatKind = (typeof chatKinds)[number];

const label = Type.Optional(
  Type.String({
    maxLength: 64,
    description: "Name of the target, such as `#operations`.",
  }),
);

/** A target as clients send it, with secrets that are never returned. */
export const TargetInput = Type.Union([
  Mail,
  Type.Object(
    {
      ...webHook,
      // Masked in logs because of its name.
      secretHeaders: Type.Optional(
        Type.Record(Type.String({ pattern: "^[A-Za-z0-9-]{1,64}$" }), header, {
          maxProperties: 16,
          ...closed,
          description: "Headers of the request, by name; never returned.",
        }),
      ),
      secret: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 256,
          description:
            "Key that signs the messages (HMAC-SHA256); never returned.",
        }),
      ),
    },
    closed,
  ),
  ...chatKinds.map((kind) =>
    Type.Object(
      {
        id,
        kind: Type.Literal(kind),
        label,
        // Masked in logs because of its name.
        secretUrl: Type.Optional({
          ...url,
          description:
            "Address of the incoming webhook; of ntfy the address of the topic. Required for new targets, never returned.",
        }),
        ...(kind === "ntfy"
          ? {
              secretToken: Type.Optional(
                Type.String({
                  pattern: "^[\\x21-\\x7e]*$",
                  maxLength: 256,
                  description:
                    "Access token of ntfy; an empty string removes it.",
                }),
              ),
            }
          : {}),
      },
      closed,
    ),
  ),
]);
export interface ChatTargetInput {
  readonly id?: string;
  readonly kind: ChatKind;
  readonly label?: string;
  readonly secretUrl?: string;
  readonly secretToken?: string;
}
type MailTarget = Static<typeof Mail>;
export interface WebHookInput {
  readonly id?: string;
  readonly kind: "web-hook";
  readonly url: string;
  readonly secretHeaders?: Readonly<Record<string, string>>;
  readonly secret?: string;
}
export type TargetInput = MailTarget | WebHookInput | ChatTargetInput;

const WebHook = Type.Object({
  ...webHook,
  headerNames: Type.Array(Type.String()),
  isSigned: Type.Boolean(),
});
const Chat = Type.Object({
  id,
  kind: Type.Enum(chatKinds),
  label,
  host: Type.String({ description: "Host of the stored address." }),
  hasToken: Type.Boolean(),
});

/** A target without its secrets. */
export const Target = Type.Union([Mail, WebHook, Chat]);
export type Target = Static<typeof Target> & { readonly id: string };

/** The encrypted part of a target. */
export interface TargetSecret {
  readonly headers?: Readonly<Record<string, string>>;
  /** Key for signing messages. */
  readonly secret?: string;
  /** Address of a chat service. */
  readonly url?: string;
  /** Access token of ntfy. */
  readonly token?: string;
}

/** Addresses, URL or host of a target. */
export function targetText(target: Target): string {
  switch (target.kind) {
    case "e-mail":
      return target.addresses.join(", ");
    case "web-hook":
      return target.url;
    case "slack":
    case "teams":
    case "mattermost":
    case "ntfy":
      return target.label === undefined || target.label === ""
        ? target.host
        : `${target.label} (${target.host})`;
  }
}
