import { recordAgentStart } from "./agent-start.js";
import { CallLog, type LoggedCall } from "./calls/call-log.js";
import type { Core } from "./calls/core.js";
import { systemContext } from "./calls/system-context.js";
import { Churn } from "./churn.js";
import { systemClock } from "./clock.js";
import { Database } from "./database.js";
import { EventQueue } from "./events/event-queue.js";
import { EventWaiters } from "./events/event-waiters.js";
import { Faults } from "./faults/transport-faults.js";
import { generateFleet } from "./fleet/generate-fleet.js";
import { profiles } from "./fleet/profiles.js";
import { servePool } from "./http/serve-pool.js";
import { GuestWriters } from "./guests/guest-writers.js";
import { Listings } from "./listings.js";
import type { TlsIdentity } from "./listener.js";
import { openMembers, type Member } from "./members.js";
import {
  takeHostOffline,
  type Loss,
} from "./operations/host/host-availability.js";
import { killHost, bootFailedHost } from "./operations/host/host-failure.js";
import { startOutages } from "./faults/outages.js";
import { Membership } from "./membership.js";
import {
  InjectedErrors,
  type InjectionConditions,
} from "./faults/injected-errors.js";
import type { DiskContents } from "./disks/disk-contents.js";
import type { PoolOptions } from "./pool-options.js";
import { NbdServers } from "./nbd/nbd-servers.js";
import { PoolState } from "./pool-state.js";
import { createRandom } from "./random.js";
import { setLoad } from "./rrd/loads.js";
import { Sessions } from "./sessions.js";
import { Tasks } from "./tasks.js";
import { FailureProfile } from "./faults/failure-profile.js";
import { Timers } from "./timers.js";
import type { Flow } from "./pool-state.js";
import type { BootFault } from "./updates/host-updates.js";
import type { UpdatePackage } from "./updates/update-package.js";
import type { FleetObject } from "./xapi-value.js";
import { makeIdentity } from "./self-signed.js";

/** A pool that answers. */
export interface SimulatedPool {
  readonly name: string;
  /** Of the coordinator at the start. */
  readonly url: string;
  /** Of all members with a listener, that one first. */
  readonly urls: readonly string[];
  readonly user: string;
  readonly password: string;
  readonly database: Database;
  /** Guests that write to their disks. */
  readonly guests: GuestWriters;
  /** What disks contain, by their uuids. */
  readonly disks: DiskContents;
  /** What `sdncontroller.py` has added to the bridge of a host (its reference). */
  flows(host: string, bridge: string): readonly Flow[];
  readonly faults: Faults;
  /** What waits to go wrong; `failNext` and `slowNext` add to it. */
  readonly injectedErrors: InjectedErrors;
  /** Operations that were called. */
  readonly calls: () => readonly LoggedCall[];
  /**
   * The next call of a message fails with this error, once: `failNext("VM.start",
   * "SR_BACKEND_FAILURE_46", ["", "in use", ""])`. Of HTTP handlers: `http/put_import`.
   */
  failNext(
    method: string,
    error: string,
    params?: readonly string[],
    conditions?: InjectionConditions,
  ): void;
  /** The next call of a message takes longer, by this number of milliseconds. */
  slowNext(
    method: string,
    delayMs: number,
    conditions?: InjectionConditions,
  ): void;
  /** The next call of a message is reported when it arrives, before it has any effect. */
  whenCalled(
    method: string,
    onCall: () => void,
    conditions?: InjectionConditions,
  ): void;
  /**
   * A host is down, for a duration or permanently, with its guests (`crash`) or without; HA
   * restarts protected ones on other hosts.
   */
  lose(hostRef: string, loss: Loss): void;
  /** A host loses its power and stays offline: HA starts its protected guests elsewhere; without HA they are halted after a moment. */
  killHost(hostRef: string): void;
  /** A host that was killed has booted again, without VMs. */
  reviveHost(hostRef: string): void;
  /** Sets the fault of a host at its next boot. */
  failBoot(hostRef: string, fault: BootFault): void;
  /** The repositories contain these packages from now on. */
  publishUpdates(packages: readonly UpdatePackage[]): void;
  /** `pool.check_update_readiness` returns these too: error codes with parameters. XenServer 8. */
  refuseUpdates(reasons: readonly (readonly string[])[]): void;
  /** Sets the CPU load of a VM, in cores, plus or minus 5 %, on any host. */
  setLoad(vmRef: string, cores: number): void;
  /** PEM of the certificate, with TLS. */
  readonly certificate: string | undefined;
  /** Makes another member with a listener (default: the next) the coordinator. @returns its reference */
  promote(hostRef?: string): string;
  /** Changes a second from now on. */
  setChurn(perSecond: number): void;
  /** XAPI of the coordinator is started again: sessions end, and deletions are no longer known. */
  restartXapi(): void;
  /**
   * Rewinds the database by a number of changes, as if restored from a backup, and starts XAPI
   * again: tokens of clients lie in the future.
   */
  rewind(generations: number): void;
  stop(): Promise<void>;
}

/** Starts a pool; it accepts requests when the promise resolves. */
export async function startPool(
  options: PoolOptions = {},
): Promise<SimulatedPool> {
  const tls = tlsIdentity(options.tls);
  const members = await openMembers({
    host: options.host ?? "127.0.0.1",
    port: options.port ?? 0,
    count: Math.min(1 + (options.members ?? 0), hostsOf(options)),
    tls,
  });
  try {
    return assemble(options, members, tls);
  } catch (error) {
    await Promise.all(members.map(({ listener }) => listener.stop()));
    throw error;
  }
}

/** Number of hosts of the pool; not known for a given database. */
function hostsOf({ fleet, origin, hosts, profile = "C" }: PoolOptions): number {
  if (fleet !== undefined || origin !== undefined) return Infinity;
  return hosts ?? profiles[profile].hosts;
}

function tlsIdentity(tls: PoolOptions["tls"]): TlsIdentity | undefined {
  if (tls === undefined || tls === false) return undefined;
  if (tls !== true) return tls;
  return makeIdentity();
}

function assemble(
  options: PoolOptions,
  members: readonly Member[],
  tls: TlsIdentity | undefined,
): SimulatedPool {
  const { user = "root", password = "password" } = options;
  const random = createRandom(options.seed ?? 1);
  const db = new Database(random, options.origin);
  if (options.origin === undefined)
    db.load(fleetOf(options, members), options.fleet === undefined);
  const membership = new Membership(db, members, options.clock ?? systemClock);
  const core = makeCore(options, { db, random, membership, tls });
  const guests = new GuestWriters(systemContext(core));
  const churn = new Churn(db, core.clock, createRandom(options.seed ?? 1));
  startXapi(core, membership, options);

  const pool: SimulatedPool = {
    name: poolName(options),
    url: members[0]!.listener.url,
    urls: members.map(({ listener }) => listener.url),
    user,
    password,
    database: db,
    disks: core.state.disks,
    flows: (host, bridge) => [
      ...(core.state.flows.get(`${host}/${bridge}`)?.values() ?? []),
    ],
    guests,
    faults: core.faults,
    injectedErrors: core.injectedErrors,
    calls: () => core.callLog.list(),
    failNext: (method, error, params = [], conditions = {}) =>
      core.injectedErrors.add({ ...conditions, method, error, params }),
    slowNext: (method, delayMs, conditions = {}) =>
      core.injectedErrors.add({ ...conditions, method, delayMs }),
    whenCalled: (method, onCall, conditions = {}) =>
      core.injectedErrors.add({ ...conditions, method, onCall }),
    lose: (hostRef, loss) =>
      takeHostOffline(systemContext(core), hostRef, loss),
    killHost: (hostRef) => killHost(systemContext(core), hostRef),
    reviveHost: (hostRef) => bootFailedHost(systemContext(core), hostRef),
    failBoot: (hostRef, fault) => {
      core.state.updates.bootFaults.set(hostRef, fault);
    },
    publishUpdates: (packages) => core.state.updates.publish(packages),
    refuseUpdates: (reasons) => {
      core.state.updates.refusals = reasons;
    },
    setLoad: (vmRef, cores) =>
      setLoad(core, vmRef, { cores, now: core.clock.now() / 1000 }),
    certificate: tls?.cert,
    promote: (hostRef) => membership.promote(hostRef, core.sessions),
    setChurn: (perSecond) => churn.set(perSecond),
    restartXapi: () => restartXapi(core, membership),
    rewind: (generations) => restartXapi(core, membership, generations),
    stop: async () => {
      churn.stop();
      guests.stop();
      core.tasks.stop();
      core.timers.stop();
      await Promise.all(members.map(({ listener }) => listener.stop()));
      await core.nbd.stop();
      core.state.disks.stop();
    },
  };
  servePool(options, core, {
    membership,
    certificate: tls?.cert,
    control: { ...pool, status: () => statusOf(pool, core, churn) },
  });
  core.tasks.startSweeping();
  startOutages(systemContext(core), core.failureProfile);
  churn.set(options.churn ?? 0);
  guests.setRate(options.guestWrites ?? 0);
  return pool;
}

function startXapi(
  core: Core,
  membership: Membership,
  { fleet, origin, prepare: formats = ["json", "xml"] }: PoolOptions,
): void {
  // A given fleet is served as it is.
  if (fleet === undefined)
    recordAgentStart(core.db, core.clock, membership.coordinatorRef);
  if (origin === undefined) prepare(core, formats);
}

/** @param generations changes that its database has lost */
function restartXapi(
  { db, clock, sessions }: Core,
  membership: Membership,
  generations = 0,
): void {
  if (generations > 0) db.rewind(generations);
  db.forgetDeletions();
  recordAgentStart(db, clock, membership.coordinatorRef);
  sessions.endAll();
}

function statusOf(pool: SimulatedPool, core: Core, churn: Churn): object {
  return {
    name: pool.name,
    urls: pool.urls,
    coordinator: core.pool.coordinatorRef(),
    generation: core.db.generation,
    churn: churn.perSecond,
    guestWrites: pool.guests.bytesPerSecond,
    /** Bytes in the temporary file of the disks. */
    storedBytes: pool.disks.storedBytes,
    faults: core.faults.list(),
    injectedErrors: core.injectedErrors.list(),
  };
}

function poolName({ name, profile, hosts, vms }: PoolOptions): string {
  if (name !== undefined) return name;
  if (profile !== undefined) return profile;
  return hosts === undefined && vms === undefined ? "C" : `${hosts}x${vms}`;
}

function fleetOf(
  options: PoolOptions,
  members: readonly Member[],
): Iterable<FleetObject> {
  if (options.fleet !== undefined) return options.fleet;
  const base = profiles[options.profile ?? "C"];
  const sized = options.hosts !== undefined || options.vms !== undefined;
  const { system } = options;
  return generateFleet({
    ...(system === undefined ? {} : { system }),
    hosts: options.hosts ?? base.hosts,
    vms: options.vms ?? base.vms,
    seed: options.seed ?? 1,
    name: poolName(options),
    addresses: members.map(({ address }) => address),
    ...(sized ? {} : { profile: base }),
  });
}

interface CoreParts {
  readonly db: Database;
  readonly random: ReturnType<typeof createRandom>;
  readonly membership: Membership;
  readonly tls: TlsIdentity | undefined;
}

function makeCore(
  options: PoolOptions,
  { db, random, membership, tls }: CoreParts,
): Core {
  const clock = options.clock ?? systemClock;
  const { user = "root", refusalMs = 2000 } = options;
  let { password = "password" } = options;
  const waiters = new EventWaiters(db, clock);
  const sessions = new Sessions(db, clock);
  const faults = new Faults();
  faults.onChange((name) => {
    if (name === "sessionInvalid" && faults.trigger(name) !== undefined)
      sessions.endAll();
    if (name === "silent" && faults.isOn(name)) membership.silence();
  });
  const failureProfile = new FailureProfile(
    options.failureProfile ?? "calm",
    options.pace ?? 1,
    options.seed ?? 1,
  );
  const timers = new Timers(clock);
  const state = new PoolState(db, { folder: options.temporaryFolder, faults });
  const nbd = new NbdServers(
    { db, state, clock, faults, sessions },
    { membership, tls },
  );
  return {
    db,
    state,
    clock,
    random,
    waiters,
    timers,
    failureProfile,
    sessions,
    faults,
    injectedErrors: new InjectedErrors(),
    callLog: new CallLog(),
    tasks: new Tasks(db, clock, random),
    queue: new EventQueue(db, clock, waiters),
    listings: new Listings(options.origin),
    pool: {
      poolRef: membership.poolRef,
      coordinatorRef: () => membership.coordinatorRef,
      addressOf: (hostRef) => membership.addressOf(hostRef),
      later: (ms, work) => timers.later(failureProfile.duration(ms), work),
      setReachable: (hostRef, reachable) => {
        membership.setReachable(hostRef, reachable, sessions);
        if (!reachable) nbd.disconnect(hostRef);
      },
      takeOver: () => {
        const next = membership.successor();
        if (next !== undefined) membership.promote(next, sessions);
        return next !== undefined;
      },
      urlOf: (hostRef) => membership.urlOf(hostRef),
      openSession: (name, hostRef) => sessions.create(name, "", hostRef).ref,
      promote: (hostRef) => void membership.promote(hostRef, sessions),
      following: () => membership.following,
      follow: (address) => membership.follow(address, sessions),
    },
    nbd,
    credentials: {
      refusalMs,
      accepts: (name, input) => name === user && input === password,
      changePassword: (next) => {
        password = next;
      },
    },
  };
}

function prepare(core: Core, formats: readonly ("json" | "xml")[]): void {
  for (const format of formats)
    for (const table of core.db.tables()) core.listings[format](table);
  for (const table of core.db.tables())
    for (const row of table.rows.values()) row.compact();
}
