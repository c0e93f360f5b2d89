import { startAuth } from "../auth/start-auth.js";
import type { OneTimeSeals } from "../auth/sessions/one-time-seals.js";
import type { StoredSessions } from "../auth/sessions/stored-sessions.js";
import { TotpEnrollments } from "../auth/second-factor/totp-enrollments.js";
import { Consoles } from "../consoles/consoles.js";
import {
  AddressAllocator,
  ADDRESS_RESERVATION_MS,
} from "../ip-pools/address-allocator.js";
import { IpPools } from "../ip-pools/ip-pools.js";
import type { StopStack } from "../lifecycle/stop-stack.js";
import type { Services } from "../methods/definition/services.js";
import { CatchUp } from "../objects/catch-up.js";
import { LocalReservations } from "../reservations/local-reservations.js";
import type { Reservations } from "../reservations/reservations.js";
import { SharedReservations } from "../reservations/shared-reservations.js";
import { ResourceSets } from "../resource-sets/resource-sets.js";
import { VM_RESERVATION_MS } from "../resource-sets/usage-reservations.js";
import type { ServerOptions } from "./server-options.js";
import { toPasswordPolicy } from "./start-accounts.js";
import type { Core } from "./start-core.js";

interface AuthServices {
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

/** Starts users and sessions, and the services that follow changes of a session's rights. */
export async function startAuthServices(
  core: Core,
  options: ServerOptions,
  stops: StopStack,
): Promise<AuthServices> {
  const { clock, store, audit, inventory, objects, pools, views } = core;
  const started = await startAuth(
    store,
    { ...options, findObject: (id) => objects.find(id) },
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
    missing: (type, id) => objects.missing(type, id),
    sessions,
  });
  sessions.onRights((client) => {
    // A console receives no notifications: a subscriber that accepts none would be kept, and closed after five minutes.
    if (consoles.renew(client)) return;
    views.clientQueries.renew(client);
    views.notices.renew(client);
  });
  const catchUp = new CatchUp({
    inventory,
    catalog: views.catalog,
    clock,
    logger: options.loggers.named("xo:api"),
  });
  const caughtUp = async (id: string) => {
    const pool = objects.connectionOf(id);
    return pool === undefined || catchUp.with([pool]);
  };
  const ipPools = new IpPools(store);
  const auth = {
    ipPools,
    ...started,
    passwordPolicy: toPasswordPolicy(options),
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
        caughtUp,
        reservations: createReservations(core, ADDRESS_RESERVATION_MS),
      }),
      caughtUp,
      reservations: createReservations(core, VM_RESERVATION_MS),
    }),
  };
  return { auth, consoles, seals, storedSessions };
}

/**
 * Reservations that all servers of the database share.
 * @param forMs maximum duration of a reservation, in ms
 */
function createReservations<Body>(
  { store, cluster, clock }: Pick<Core, "store" | "cluster" | "clock">,
  forMs: number,
): Reservations<Body> {
  if (!cluster.isShared) return new LocalReservations(clock);
  const fence = () => cluster.serverLease().fence;
  return new SharedReservations({
    store: store.reservations,
    fence,
    forMs,
    clock,
  });
}
