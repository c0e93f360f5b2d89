import { randomUUID } from "node:crypto";
import { pause, type Logger, type MonotonicClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type {
  ClusterServer,
  JoiningServer,
  ServerAddress,
  Store,
} from "@xo-server/store";

interface MembershipOptions {
  readonly store: Pick<
    Store["clusterServers"],
    "join" | "heartbeat" | "leave" | "delete" | "list"
  >;
  readonly self: JoiningServer;
  /** False (SQLite): there is no other server. */
  readonly isShared: boolean;
  /** A server without a heartbeat for this time does not run. */
  readonly silentMs: number;
  /** Whether another process with this id runs on this machine. */
  readonly isRunning: (processId: number) => boolean;
  /** Called once, when an administrator has requested that this server hands over its leases. */
  readonly onLeave?: () => void;
  /** A newer version has migrated the database, and this one does not work with it: nothing more may be written. */
  readonly onTooNew?: (error: XoError) => void;
  readonly clock: MonotonicClock;
  readonly logger: Pick<Logger, "error" | "info" | "warn">;
}

/** A server that others can reach. */
export type Peer = ClusterServer & ServerAddress;

/** Heartbeats within the time after which a server counts as lost. */
const BEATS = 5;
/** Interval of heartbeats at most, in ms, however long leases are: half the time after which a server is listed as lost (`LOST_SERVER_MS`). */
const MAX_INTERVAL_MS = 5_000;

/** This server among those that share the database. */
export class Membership {
  readonly #options: MembershipOptions;
  #running: readonly string[] = [];
  #peers: readonly Peer[] = [];
  /** By the monotonic clock. */
  #leavingSince: number | undefined;
  /** Undefined: this server cannot be reached yet. */
  #readAddress: (() => ServerAddress) | undefined;
  /** Of the last heartbeat that the database has answered, by the monotonic clock. */
  #answeredAt: number;
  #timer: unknown;
  #isStopped = false;

  constructor(options: MembershipOptions) {
    this.#options = options;
    this.#answeredAt = options.clock.now();
  }

  /** Takes no leases until its next start, and hands over those that it has. */
  get isLeaving(): boolean {
    return this.#leavingSince !== undefined;
  }

  /**
   * Time since it began to leave, in ms, in which load balancers could notice it; 0:
   * it does not leave.
   */
  get leavingForMs(): number {
    const { clock } = this.#options;
    const now = clock.now();
    return now - (this.#leavingSince ?? now);
  }

  /** Names of the running servers that do not leave, and of this one; empty: another process has its name. */
  get running(): readonly string[] {
    return this.#running;
  }

  /** The running servers that do not leave and that this one can reach, without itself. */
  get peers(): readonly Peer[] {
    return this.#peers;
  }

  /** Time since the last heartbeat that the database has answered, in ms. */
  get databaseSilentMs(): number {
    return this.#options.clock.now() - this.#answeredAt;
  }

  /**
   * @returns the instance of the last process of this server, if it has ended without leaving
   * @throws XoError CONFIG_INVALID: another running server has the name; STORE_UNAVAILABLE;
   *   STORE_TOO_NEW: a newer version has migrated the database since it was opened
   */
  async join(): Promise<string | undefined> {
    const ended = await this.#findEnded();
    const { clock, silentMs, isShared, self } = this.#options;
    const until = clock.now() + 2 * silentMs;
    for (;;) {
      const other =
        (await this.#findSelf()) ??
        (await this.#options.store.join(self, isShared ? silentMs : 0));
      if (other === undefined) break;
      // The process that has the name may have been killed a moment ago.
      if (clock.now() >= until) throw nameTaken(self.name, other.url);
      await pause(clock, this.#interval);
    }
    if (isShared) await this.#confirm();
    this.#running = [self.name];
    this.#answeredAt = clock.now();
    if (isShared) await this.#readServers();
    this.#schedule();
    return ended;
  }

  /** Each heartbeat writes the address; its certificate may be replaced. */
  announce(read: () => ServerAddress): void {
    this.#readAddress = read;
  }

  /** Announces to all servers that this one leaves. @throws XoError STORE_UNAVAILABLE */
  async leave(): Promise<void> {
    const { store, self, clock } = this.#options;
    this.#leavingSince ??= clock.now();
    await store.leave(self.name, self.instance);
  }

  /** Reads which servers run, without waiting for the next heartbeat. Never rejects. */
  async refresh(): Promise<void> {
    if (this.#isStopped || this.#running.length === 0) return;
    // The database is unreachable: the next heartbeat reads it again.
    await this.#readServers().catch(() => undefined);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    const { clock, store, self } = this.#options;
    clock.clearTimeout(this.#timer);
    // The database is unreachable: this server counts as lost until it is started again or deleted.
    await store.delete(self.name, self.instance).catch(() => undefined);
  }

  /** Checks, after this server is registered, that no newer version has migrated the database meanwhile. */
  async #confirm(): Promise<void> {
    const { store, self } = this.#options;
    try {
      await store.heartbeat(self.instance);
    } catch (error) {
      await store.delete(self.name, self.instance);
      throw error;
    }
  }

  #schedule(): void {
    const { clock, isShared } = this.#options;
    if (!isShared || this.#isStopped) return;
    this.#timer = clock.setTimeout(
      () => void this.#sendHeartbeat(),
      this.#interval,
    );
  }

  get #interval(): number {
    return Math.min(this.#options.silentMs / BEATS, MAX_INTERVAL_MS);
  }

  async #sendHeartbeat(): Promise<void> {
    const { store, self, logger } = this.#options;
    try {
      const address = this.#readAddress?.();
      const isListed = await store.heartbeat(self.instance, address);
      this.#answeredAt = this.#options.clock.now();
      if (isListed) await this.#readServers();
      else await this.#onMissing();
    } catch (error) {
      // Database failures are reported by the database itself.
      if (!(error instanceof XoError))
        logger.warn("heartbeat failed", { error });
      else if (error.code === "STORE_TOO_NEW") this.#options.onTooNew?.(error);
    }
    this.#schedule();
  }

  async #readServers(): Promise<void> {
    const { store, self, silentMs, clock } = this.#options;
    const all = await store.list();
    const others = all.filter(
      ({ name, silentMs: silent, leavingAt }) =>
        name !== self.name && silent < silentMs && leavingAt === undefined,
    );
    const before = this.#running;
    this.#running = [self.name, ...others.map(({ name }) => name)];
    this.#logChanges(before, all);
    const own = all.find(({ instance }) => instance === self.instance);
    this.#peers = others
      .filter((server): server is Peer => server.address !== undefined)
      // An address that only this machine can use, such as 127.0.0.1.
      .filter(({ address }) => address !== own?.address);
    if (own?.leavingAt === undefined || this.isLeaving) return;
    this.#leavingSince = clock.now();
    this.#options.onLeave?.();
  }

  /** @param before names of the servers that were running at the last reading */
  #logChanges(before: readonly string[], all: readonly ClusterServer[]): void {
    const { silentMs, logger } = this.#options;
    const now = this.#running;
    for (const name of now)
      if (!before.includes(name)) logger.info(`server ${name} is running`);
    for (const name of before) {
      if (now.includes(name)) continue;
      const server = all.find((one) => one.name === name);
      if (server === undefined) logger.info(`server ${name} has stopped`);
      else if (server.leavingAt !== undefined)
        logger.info(`server ${name} is handing over its leases`);
      else
        logger.warn(
          `server ${name} is lost: no heartbeat for ${Math.round(Math.max(server.silentMs, silentMs) / 1_000)} s`,
        );
    }
  }

  /** An administrator has deleted this server while it did not answer, or another process has its name. */
  async #onMissing(): Promise<void> {
    const { store, self, logger } = this.#options;
    const all = await store.list();
    if (all.some(({ name }) => name === self.name)) {
      if (this.#running.length > 0)
        logger.error(
          `another process of server ${self.name} has started: this one has lost all leases; stop it`,
        );
      this.#running = [];
    } else if ((await store.join(self, 0)) === undefined)
      await this.#readServers();
  }

  /** The last process of this installation, killed; not one that runs or is frozen. */
  async #findEnded(): Promise<string | undefined> {
    const { store, self, isShared, isRunning } = this.#options;
    if (!isShared) return undefined;
    const last = (await store.list()).find(
      ({ name, origin }) => name === self.name && origin === self.origin,
    );
    if (last === undefined || isRunning(processOf(last.instance)))
      return undefined;
    return last.instance;
  }

  /** A process of this installation that still runs, such as one that is started twice by mistake. */
  async #findSelf(): Promise<ClusterServer | undefined> {
    const { store, self, silentMs, isShared, isRunning } = this.#options;
    if (!isShared) return undefined;
    return (await store.list()).find(
      ({ name, origin, instance, silentMs: silent }) =>
        name === self.name &&
        origin === self.origin &&
        silent < silentMs &&
        isRunning(processOf(instance)),
    );
  }
}

/** Unique for each start, with the id of the process. */
export function newInstance(): string {
  return `${process.pid} ${randomUUID()}`;
}

function processOf(instance: string): number {
  return Number.parseInt(instance, 10);
}

/** @returns whether another process with this id runs on this machine */
export function isOtherProcess(id: number): boolean {
  if (!(id > 0) || id === process.pid) return false;
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function nameTaken(name: string, url: string): XoError {
  const where = url === "" ? "" : ` at ${url}`;
  return new XoError("CONFIG_INVALID", {
    where: "server.name",
    reason: `another server${where} is running with the name ${name}: give each server its own`,
  });
}
