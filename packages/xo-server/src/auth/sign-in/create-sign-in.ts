import { wallClock } from "@xo-server/kit";
import type { Store } from "@xo-server/store";
import type { StartOptions } from "../../config/start-options.js";
import { ExternalProviders } from "./external-providers.js";
import { ExternalUsers } from "../users/external-users.js";
import { PasswordVerifier } from "./password-verifier.js";
import { ProviderSettings } from "./provider-settings.js";
import { SignInService } from "./sign-in-service.js";
import type { SecondFactorPolicy } from "../second-factor/second-factor-policy.js";
import type { StoredSessions } from "../sessions/stored-sessions.js";
import { SignInLog } from "./sign-in-log.js";

interface SignInParts {
  readonly sessions: StoredSessions;
  readonly policy: SecondFactorPolicy;
}

interface CreatedSignIn {
  readonly signIn: SignInService;
  readonly providers: ExternalProviders;
  readonly providerSettings: ProviderSettings;
}

/**
 * Creates the sign-in by local passwords and by the external identity providers of
 * config.yaml or the database.
 */
export async function createSignIn(
  store: Store,
  { sessions, policy }: SignInParts,
  options: Pick<StartOptions, "config" | "loggers" | "clock" | "env">,
): Promise<CreatedSignIn> {
  const { loggers, clock = wallClock, env } = options;
  const logger = loggers.named("xo:auth");
  const externalUsers = new ExternalUsers({ store, logger });
  const log = new SignInLog(store);
  const providerSettings = new ProviderSettings(store, options.config);
  const providers = await ExternalProviders.start({
    settings: providerSettings,
    store,
    logger,
    clock,
    env,
    externalUsers,
    sessions,
    log,
  });
  const passwords = new PasswordVerifier({ store, externalUsers, providers });
  const signIn = new SignInService({
    store,
    sessions,
    policy,
    passwords,
    log,
    clock,
    providers,
    ...(store.engine === "postgres" ? { attempts: store.signInAttempts } : {}),
  });
  return { signIn, providers, providerSettings };
}
