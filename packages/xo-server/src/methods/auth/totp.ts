import { XoError } from "@xo-server/model";
import type { User } from "@xo-server/store";
import { Type } from "typebox";
import { defineOperation } from "../definition/define-operation.js";
import { toTotpUri } from "../../auth/second-factor/totp.js";
import type { SecondFactorPolicy } from "../../auth/second-factor/second-factor-policy.js";
import { requireUser } from "./token.js";

const otp = Type.String({
  minLength: 6,
  maxLength: 16,
  description: "One-time code of the authenticator app.",
});
const password = Type.String({
  minLength: 1,
  maxLength: 4096,
  description: "Password of the current user.",
});
const closed = { additionalProperties: false } as const;

const userEnrolTotp = defineOperation({
  name: "user.enrolTotp",
  summary:
    "Start the enrollment of two-factor authentication (2FA, TOTP) for the current user. user.confirmTotp completes it.",
  params: Type.Object({ password }, closed),
  result: Type.Object({
    secret: Type.String({ description: "Secret, in Base32." }),
    uri: Type.String({ description: "URL for a QR code (otpauth://)." }),
  }),
  permission: "user",
  isForSetUp: true,
  async handler({ password }, context) {
    const { id, name } = requireUser(context);
    await context.services.signIn.checkPassword(
      { name, password },
      context.address,
    );
    const secret = context.services.totpEnrollments.begin(id);
    return { secret, uri: toTotpUri(secret, name) };
  },
});

const userConfirmTotp = defineOperation({
  name: "user.confirmTotp",
  summary:
    "Enable two-factor authentication (2FA, TOTP) of the current user by its first code.",
  params: Type.Object({ otp }, closed),
  result: Type.Boolean(),
  permission: "user",
  changes: true,
  isForSetUp: true,
  async handler({ otp }, context) {
    const { id } = requireUser(context);
    const { client, services } = context;
    const { totpEnrollments, store, sessions, storedSessions } = services;
    const { secret, step } = totpEnrollments.confirm(id, otp);
    // Done first, because sessions without a second factor end as soon as the user has one.
    if (client.session !== undefined)
      sessions.begin(client, await storedSessions.proven(client.session));
    await store.users.setTotp(id, secret, step);
    return true;
  },
});

const userRemoveTotp = defineOperation({
  name: "user.removeTotp",
  summary:
    "Remove two-factor authentication (2FA, TOTP) of the current user, who confirms with the password. Administrators may name another user.",
  params: Type.Object(
    {
      id: Type.Optional(
        Type.String({ minLength: 1, description: "Id of a user." }),
      ),
      password: Type.Optional(password),
    },
    closed,
  ),
  result: Type.Boolean(),
  permission: "user",
  changes: true,
  async handler({ id, password = "" }, context) {
    const user = requireUser(context);
    const isOwn = id === undefined || id === user.id;
    if (!isOwn && !user.isAdmin)
      throw new XoError("FORBIDDEN", { permission: "admin" });
    const { store, secondFactors } = context.services;
    if (isOwn) {
      checkRemovable(store.users.get(user.id), secondFactors);
      const { name } = user;
      await context.services.signIn.checkPassword(
        { name, password },
        context.address,
      );
    }
    await store.users.setTotp(id ?? user.id, null);
    return true;
  },
});

/** @throws XoError SECOND_FACTOR_REQUIRED */
function checkRemovable(
  user: User | undefined,
  secondFactors: SecondFactorPolicy,
): void {
  if (user === undefined || !secondFactors.isRequiredOf(user)) return;
  throw new XoError("SECOND_FACTOR_REQUIRED", {
    advice:
      "it cannot be removed; user.enrolTotp and user.confirmTotp replace it",
  });
}

/** The second factor: time-based codes of an authenticator app (RFC 6238). */
export const totpOperations = [userEnrolTotp, userConfirmTotp, userRemoveTotp];
