import { XoError } from "@xo-server/model";
import type { Authenticator } from "../../auth/sign-in/authenticator.js";
import { secondFactorMissing } from "../../auth/second-factor/second-factor-policy.js";
import type { Session } from "../../auth/sessions/session.js";
import { SessionClient } from "../../auth/sessions/session-client.js";
import {
  toCallContext,
  type CallContext,
  type Permission,
} from "../../operations/operation.js";
import { builtInRoles } from "../../rights/built-in-roles.js";
import { Rights } from "../../rights/rights.js";
import type { RequestCredentials } from "./credentials.js";

/** The caller of a REST request. */
export interface Caller {
  readonly context: CallContext;
  /** @throws XoError UNAUTHORIZED: anonymous, and anonymous clients may not read */
  readonly rights: () => Rights;
}

interface SignInOptions {
  readonly authenticator: Authenticator | undefined;
  /** Permission of anonymous clients. */
  readonly anonymous: Permission;
  /**
   * Whether the request is allowed for a user who must set up a second factor
   * first. Default: no.
   */
  readonly admitsSetUp?: boolean;
  /**
   * Whether the request counts as a use of its token, which keeps a session alive.
   * Default: yes.
   */
  readonly countsAsUse?: boolean;
  /** Aborted when the client has disconnected. */
  readonly disconnected?: AbortSignal | undefined;
}

/** Rights of anonymous clients of a demo. */
const viewerRights = new Rights(
  builtInRoles.find(({ id }) => id === "viewer")!.privileges,
);

/**
 * @throws XoError CREDENTIALS_INVALID, SECOND_FACTOR_REQUIRED
 */
export async function toCaller(
  shown: RequestCredentials,
  address: string,
  options: SignInOptions,
): Promise<Caller> {
  const { anonymous, admitsSetUp = false } = options;
  const session = await signIn(shown, address, options);
  const caller = toSessionCaller(session, address, anonymous);
  if (caller.context.user?.isSetUpOnly === true && !admitsSetUp)
    throw secondFactorMissing();
  return caller;
}

/**
 * The caller with the rights that the user has now.
 * @throws XoError CREDENTIALS_INVALID: the session has ended, or the password was
 * changed; SECOND_FACTOR_REQUIRED
 */
export function renewCaller(
  caller: Caller,
  {
    anonymous,
    admitsSetUp = false,
  }: Pick<SignInOptions, "anonymous" | "admitsSetUp">,
): Caller {
  const { client, address, trace } = caller.context;
  if (client.session === undefined) return caller;
  const context = { ...toCallContext(client, address, anonymous), trace };
  if (context.user === undefined || client.session.isPasswordChanged?.())
    throw new XoError("CREDENTIALS_INVALID");
  if (context.user.isSetUpOnly === true && !admitsSetUp)
    throw secondFactorMissing();
  return toCallerOf(context);
}

/** @param session undefined: anonymous */
export function toSessionCaller(
  session: Session | undefined,
  address: string,
  anonymous: Permission,
): Caller {
  return toCallerOf(
    toCallContext(new SessionClient(session), address, anonymous),
  );
}

function toCallerOf(context: CallContext): Caller {
  return {
    context,
    rights: () => {
      if (context.user !== undefined) return context.user.rights;
      if (context.permission === "viewer") return viewerRights;
      throw new XoError("UNAUTHORIZED");
    },
  };
}

async function signIn(
  shown: RequestCredentials,
  address: string,
  { authenticator, disconnected, countsAsUse = true }: SignInOptions,
): Promise<Session | undefined> {
  if (shown.kind === "nothing") return undefined;
  if (authenticator === undefined) throw new XoError("CREDENTIALS_INVALID");
  return shown.kind === "token"
    ? authenticator.byToken(shown.token, address, { countsAsUse })
    : authenticator.byPassword(shown, address, disconnected);
}
