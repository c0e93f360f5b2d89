import { startAuth } from "../auth/start-auth.js";
import type { OneTimeSeals } from "../auth/one-time-seals.js";
import type { StoredSessions } from "../auth/stored-sessions.js";
import { PasswordPolicy } from "../auth/password-policy.js";
import { TotpEnrollments } from "../auth/totp-enrollments.js";
import { Consoles } from "../consoles/consoles.js";
import { AddressAllocator } from "../ip-pools/address-allocator.js";
import { IpPools } from "../ip-pools/ip-pools.js";
import type { StopStack } from "../lifecycle/stop-stack.js";
import type { Services } from "../methods/services.js";
import { CatchUp } from "../objects/catch-up.js";
import { ResourceSets } from "../resource-sets/resource-sets.js";
import type { ServerOptions } from "./server-options.js";
import type { Core } from "./start-core.js";

export interface AuthServices {
  readonly auth: Pick<
    Services,
    | "users"
    | "signIn"
    | "providers"
    | "providerSettings"
    | "sessions"
    | "storedSessions"
    | "secondFactors"
    | "sessionLimits"
    | "tickets"
    | "totpEnrollments"
    | "passwordPolicy"
    | "resourceSets"
    | "ipPools"
  >;
  readonly consoles: Consoles;
  readonly seals: OneTimeSeals;
  readonly storedSessions: StoredSessions;
}

/** Users, sessions, and what follows changes of a session's rights. */
export async function startAuthServices(
  core: Core,
  options: ServerOptions,
  stops: StopStack,
): Promise<AuthServices> {
  const { clock, store, audit, inventory, objects, pools, views } = core;
  const passwordPolicy = new PasswordPolicy(
    options.demo === undefined ? options.config.auth : { minPasswordLength: 1 },
  );
  const started = await startAuth(
    store,
    { ...options, passwordPolicy, findObject: (id) => objects.find(id) },
    stops,
  );
  const { sessions, seals, storedSessions } = started;
  const consoles = new Consoles({
    config: options.config.consoles,
    inventory,
    pools,
    audit,
    hits: core.limitHits,
    clock,
    findObject: (id) => objects.find(id),
    sessions,
  });
  sessions.onRights((client) => {
    views.liveQueries.renew(client);
    views.notices.renew(client);
    consoles.renew(client);
  });
  const catchUp = new CatchUp({
    inventory,
    catalog: views.catalog,
    clock,
    logger: options.loggers.named("xo:api"),
  });
  const ipPools = new IpPools(store);
  const auth = {
    ipPools,
    ...started,
    passwordPolicy,
    totpEnrollments: new TotpEnrollments(clock),
    resourceSets: new ResourceSets({
      ...views,
      store,
      clock,
      addresses: new AddressAllocator({
        ...views,
        pools: ipPools,
        store,
        clock,
      }),
      caughtUp: async (id) => {
        const pool = objects.connectionOf(id);
        if (pool !== undefined) await catchUp.with([pool]);
      },
    }),
  };
  return { auth, consoles, seals, storedSessions };
}
