import type { Store } from "@xo-server/store";
import { systemClock } from "../clock.js";
import type { ServerOptions } from "../boot/server-options.js";
import { ForeignPeople } from "./foreign-people.js";
import { LdapDirectory } from "./ldap/ldap-directory.js";
import { OidcProvider } from "./oidc/oidc-provider.js";
import { PasswordCheck } from "./password-check.js";
import type { People } from "./people.js";
import { ProviderSignIn } from "./provider-sign-in.js";
import { SignIn } from "./sign-in.js";
import { SignInLog } from "./sign-in-log.js";

/** The ways to sign in that the config names; passwords of our own are always one. */
export function createSignIn(
  store: Store,
  people: People,
  options: Pick<ServerOptions, "config" | "loggers" | "clock" | "env">,
): SignIn {
  const { loggers, clock = systemClock, env } = options;
  const { ldap, oidc } = options.config;
  const logger = loggers.named("xo:people");
  if (!ldap.startTls && ldap.urls.some((url) => url.startsWith("ldap:")))
    logger.warn("LDAP without TLS: passwords go there in clear text");
  const foreignPeople = new ForeignPeople({ store, logger });
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
          foreignPeople,
          people,
          log,
          provider: new OidcProvider({ oidc, logger, env }),
        });
  const passwords = new PasswordCheck({ store, foreignPeople, directory });
  return new SignIn({
    store,
    people,
    passwords,
    log,
    clock,
    redirect,
    directory: directory?.policy.provider,
  });
}
