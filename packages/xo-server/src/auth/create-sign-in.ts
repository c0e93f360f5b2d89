import { wallClock } from "@xo-server/kit";
import type { Store } from "@xo-server/store";
import type { StartOptions } from "../config/start-options.js";
import { ExternalUsers } from "./external-users.js";
import type { LdapDirectoryOptions } from "./ldap/ldap-directory.js";
import type { OidcProviderOptions } from "./oidc/oidc-provider.js";
import { PasswordVerifier } from "./password-verifier.js";
import { ProviderSignIn } from "./provider-sign-in.js";
import { SignInService } from "./sign-in-service.js";
import type { StoredSessions } from "./stored-sessions.js";
import { SignInLog } from "./sign-in-log.js";

/** Local passwords, and the external identity providers of the config. */
export async function createSignInService(
  store: Store,
  sessions: StoredSessions,
  options: Pick<StartOptions, "config" | "loggers" | "clock" | "env">,
): Promise<SignInService> {
  const { loggers, clock = wallClock, env } = options;
  const { ldap, oidc } = options.config;
  const logger = loggers.named("xo:people");
  if (!ldap.startTls && ldap.urls.some((url) => url.startsWith("ldap:")))
    logger.warn("LDAP without TLS: passwords are sent in clear text");
  const foreignPeople = new ExternalUsers({ store, logger });
  const log = new SignInLog(store);
  const directory =
    ldap.urls.length === 0
      ? undefined
      : await createDirectory({ ldap, clock, logger, env });
  const redirect =
    oidc.issuer === ""
      ? undefined
      : new ProviderSignIn({
          oidc,
          externalUsers: foreignPeople,
          sessions,
          log,
          provider: await createProvider({ oidc, logger, env }),
        });
  const passwords = new PasswordVerifier({
    store,
    externalUsers: foreignPeople,
    directory,
  });
  return new SignInService({
    store,
    sessions,
    passwords,
    log,
    clock,
    redirect,
    directory: directory?.policy.provider,
  });
}

// The providers are loaded on demand: their libraries take 100 ms CPU.

async function createDirectory(options: LdapDirectoryOptions) {
  const { LdapDirectory } = await import("./ldap/ldap-directory.js");
  return new LdapDirectory(options);
}

async function createProvider(options: OidcProviderOptions) {
  const { OidcProvider } = await import("./oidc/oidc-provider.js");
  return new OidcProvider(options);
}
