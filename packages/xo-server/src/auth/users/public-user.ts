import type { Store, User } from "@xo-server/store";
import type { AuthenticatedUser } from "./authenticated-user.js";
import type { SecondFactorPolicy } from "../second-factor/second-factor-policy.js";
import { Type, type Static } from "typebox";

/** A user in the API. */
export const PublicUser = Type.Object({
  id: Type.String(),
  /** Same as `name`: Xen Orchestra has `email` in JSON-RPC and `name` in REST. */
  email: Type.String(),
  name: Type.String(),
  permission: Type.String({ description: "admin or none." }),
  groups: Type.Array(Type.String(), {
    description: "Ids of the groups of the user.",
  }),
  preferences: Type.Record(Type.String(), Type.Unknown()),
  hasPassword: Type.Boolean({
    description: "Whether the user has a local password.",
  }),
  hasTotp: Type.Boolean({
    description: "Whether two-factor authentication (TOTP) is required.",
  }),
  needsSecondFactor: Type.Boolean({
    description:
      "Whether a second factor is required (auth.requireSecondFactor) and not set up: the user may only do that.",
  }),
  authProviders: Type.Optional(
    Type.Record(Type.String(), Type.Object({ id: Type.String() }), {
      description:
        "Ids of the user at external identity providers, by provider.",
    }),
  ),
});
export type PublicUser = Static<typeof PublicUser>;

/** A user as clients see it: without password hash and TOTP secret. */
export function toPublicUser(
  user: User,
  { groups }: Pick<Store, "groups">,
  secondFactors: SecondFactorPolicy,
): PublicUser {
  const { id, name, permission, preferences, authProviders } = user;
  const { hasPassword, hasTotp } = user;
  const providers = Object.entries(authProviders).map(
    ([provider, id]) => [provider, { id }] as const,
  );
  return {
    id,
    email: name,
    name,
    permission,
    groups: groups.groupsOf(id),
    preferences,
    hasPassword,
    hasTotp,
    needsSecondFactor: secondFactors.isMissing(user),
    ...(providers.length === 0
      ? {}
      : { authProviders: Object.fromEntries(providers) }),
  };
}

/**
 * The user of a session as the page sees it. For users who sign in at a provider,
 * that provider is responsible for second factors.
 */
export function toSessionUser(
  user: User,
  {
    store,
    secondFactors,
  }: {
    readonly store: Pick<Store, "groups">;
    readonly secondFactors: SecondFactorPolicy;
  },
  session: Pick<AuthenticatedUser, "isSetUpOnly"> | undefined,
): PublicUser {
  const needsSecondFactor = session?.isSetUpOnly === true;
  return { ...toPublicUser(user, store, secondFactors), needsSecondFactor };
}

export const userExample = {
  id: "722d17b9-699b-49d2-8193-be1ac573d3de",
  name: "ada@example.net",
  permission: "none",
  groups: [],
  preferences: {},
  hasPassword: true,
  hasTotp: false,
  needsSecondFactor: false,
};
