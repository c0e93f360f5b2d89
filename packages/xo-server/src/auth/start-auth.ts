import { wallClock } from "@xo-server/kit";
import type { Store } from "@xo-server/store";
import type { StartOptions } from "../config/start-options.js";
import type { StopStack } from "../lifecycle/stop-stack.js";
import type { ObjectFinder } from "../rights/owners.js";
import { startTokenCleanup } from "./users/token-cleanup.js";
import type { ExternalProviders } from "./sign-in/external-providers.js";
import { createSignIn } from "./sign-in/create-sign-in.js";
import { AuthenticatedUsers } from "./users/authenticated-users.js";
import { Sessions } from "./sessions/sessions.js";
import type { ProviderSettings } from "./sign-in/provider-settings.js";
import type { SignInService } from "./sign-in/sign-in-service.js";
import { OneTimeSeals } from "./sessions/one-time-seals.js";
import { SecondFactorPolicy } from "./second-factor/second-factor-policy.js";
import {
  sessionLimitsOf,
  type SessionLimits,
} from "./sessions/session-limits.js";
import { StoredSessions } from "./sessions/stored-sessions.js";
import { Tickets } from "./sessions/tickets.js";

/** Users, sign-in, sessions and tickets of the server. */
interface AuthService {
  readonly users: AuthenticatedUsers;
  readonly signIn: SignInService;
  readonly providers: ExternalProviders;
  readonly providerSettings: ProviderSettings;
  readonly sessions: Sessions;
  readonly tickets: Tickets;
  readonly seals: OneTimeSeals;
  readonly storedSessions: StoredSessions;
  readonly secondFactors: SecondFactorPolicy;
  readonly sessionLimits: SessionLimits;
}

interface AuthOptions extends Pick<
  StartOptions,
  "config" | "loggers" | "clock"
> {
  /** See Rights. */
  readonly findObject: ObjectFinder;
}

/** Starts the services of users, tokens, LDAP and OpenID Connect. */
export async function startAuth(
  store: Store,
  options: AuthOptions,
  stops: StopStack,
): Promise<AuthService> {
  const { config, clock = wallClock } = options;
  const users = new AuthenticatedUsers(store, options.findObject);
  const sessions = new Sessions({ store, clock });
  const stopDropping = startTokenCleanup(store, clock);
  const secondFactors = new SecondFactorPolicy(config.auth.requireSecondFactor);
  const sessionLimits = sessionLimitsOf(config.auth);
  const storedSessions = new StoredSessions({
    store,
    users,
    policy: secondFactors,
    limits: sessionLimits,
    clock,
  });
  const seals = new OneTimeSeals({ store, clock });
  const created = await createSignIn(
    store,
    { sessions: storedSessions, policy: secondFactors },
    options,
  );
  const { signIn, providers } = created;
  stops.push("authentication", () => {
    stopDropping();
    signIn.stop();
    providers.stop();
    sessions.stop();
    users.stop();
  });
  return {
    users,
    sessions,
    ...created,
    seals,
    storedSessions,
    secondFactors,
    sessionLimits,
    tickets: new Tickets({ seals, sessions: storedSessions }),
  };
}
