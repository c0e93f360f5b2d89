import type { Store } from "@xo-server/store";
import { systemClock } from "../clock.js";
import type { StartOptions } from "../config/start-options.js";
import { ExternalUsers } from "./external-users.js";
import { LdapDirectory } from "./ldap/ldap-directory.js";
import { OidcProvider } from "./oidc/oidc-provider.js";
import { PasswordVerifier } from "./password-verifier.js";
import type { AuthenticatedUsers } from "./authenticated-users.js";
import { ProviderSignIn } from "./provider-sign-in.js";
import { SignInService } from "./sign-in-service.js";
import { SignInLog } from "./sign-in-log.js";

/** The ways to sign in that the config names; passwords of our own are always one. */
export function createSignInService(
  store: Store,
  people: AuthenticatedUsers,
  options: Pick<StartOptions, "config" | "loggers" | "clock" | "env">,
): SignInService {
  const { loggers, clock = systemClock, env } = options;
  const { ldap, oidc } = options.config;
  const logger = loggers.named("xo:people");
  if (!ldap.startTls && ldap.urls.some((url) => url.startsWith("ldap:")))
    logger.warn("LDAP without TLS: passwords go there in clear text");
  const foreignPeople = new ExternalUsers({ store, logger });
  const log = new SignInLog(store, logger);
  const directory =
    ldap.urls.length === 0
      ? undefined
      : new LdapDirectory({ ldap, clock, logger, env });
  const redirect =
    oidc.issuer === ""
      ? undefined
      : new ProviderSignIn({
          oidc,
          externalUsers: foreignPeople,
          users: people,
          log,
          provider: new OidcProvider({ oidc, logger, env }),
        });
  const passwords = new PasswordVerifier({
    store,
    externalUsers: foreignPeople,
    directory,
  });
  return new SignInService({
    store,
    users: people,
    passwords,
    log,
    clock,
    redirect,
    directory: directory?.policy.provider,
  });
}
