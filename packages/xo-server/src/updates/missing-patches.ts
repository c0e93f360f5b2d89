import type { WallClock } from "@xo-server/kit";
import { Semaphore } from "@xo-server/inventory";
import type { PoolObject } from "../objects/pool-objects.js";
import type { MissingPatch } from "./missing-patch.js";
import type {
  InstallParts,
  InstallRequest,
  UpdateSystem,
} from "./update-system.js";
import { uploadedUpdates } from "./uploaded-updates.js";
import { xcpNgUpdates } from "./xcp-ng-updates.js";
import { XenServerUpdates } from "./xenserver-updates.js";

/** Age up to which an answer is reused, in ms: reading the repositories takes the host seconds. */
const FRESH_MS = 10 * 60_000;
const AT_A_TIME = 8;

interface Query {
  readonly patches: Promise<readonly MissingPatch[]>;
  readonly since: number;
}

/** The last answer of a host. */
interface PatchState {
  readonly patches: readonly MissingPatch[];
  /** Milliseconds since the epoch. */
  readonly checkedAt: number;
}

/**
 * Updates that hosts have not installed. A host is queried at most every ten
 * minutes; concurrent callers share the query.
 */
export class MissingPatches {
  readonly #clock: WallClock;
  readonly #xenServer: XenServerUpdates;
  readonly #queries = new Map<string, Query>();
  readonly #latest = new Map<string, PatchState>();
  readonly #turns = new Semaphore(AT_A_TIME);

  constructor(clock: WallClock) {
    this.#clock = clock;
    this.#xenServer = new XenServerUpdates(clock);
  }

  /** @throws XoError, XapiError: errors of the plug-in or the pool */
  of(host: PoolObject): Promise<readonly MissingPatch[]> {
    const { id } = host;
    const now = this.#clock.now();
    const known = this.#queries.get(id);
    if (known !== undefined && now - known.since < FRESH_MS)
      return known.patches;
    const patches = this.#turns.run(() => {
      const listed = this.systemOf(host).list(host, this.#clock);
      return host.lease?.whileHeld(listed) ?? listed;
    });
    const entry = { patches, since: now };
    this.#queries.set(id, entry);
    patches.then(
      (all) => {
        if (this.#queries.get(id) === entry)
          this.#latest.set(id, { patches: all, checkedAt: now });
      },
      () => {
        if (this.#queries.get(id) === entry) this.#queries.delete(id);
      },
    );
    return patches;
  }

  /** Queries the host even if its last answer is recent. */
  again(host: PoolObject): Promise<readonly MissingPatch[]> {
    this.#queries.delete(host.id);
    return this.of(host);
  }

  /** Why the pool of a host refuses updates: XAPI's error codes with parameters. @throws XoError, XapiError */
  async refusals(host: PoolObject): Promise<readonly (readonly string[])[]> {
    return (await this.systemOf(host).refusals?.(host)) ?? [];
  }

  /** The last answer, regardless of its age. Undefined: the host was not queried yet. */
  latest(id: string): PatchState | undefined {
    return this.#latest.get(id);
  }

  /** Ids of hosts whose last answer contains updates. */
  hostsWithPatches(): string[] {
    return [...this.#latest]
      .filter(([, { patches }]) => patches.length > 0)
      .map(([id]) => id);
  }

  /** Removes the answers of all other hosts. */
  keepOnly(hosts: ReadonlySet<string>): void {
    for (const id of [...this.#latest.keys(), ...this.#queries.keys()])
      if (!hosts.has(id)) {
        this.#latest.delete(id);
        this.#queries.delete(id);
      }
  }

  /**
   * Installs updates on a host, and removes its last answer.
   * @throws XoError, XapiError
   */
  async install(
    host: PoolObject,
    request: InstallRequest,
    parts: InstallParts,
  ): Promise<void> {
    try {
      await this.systemOf(host).install(host, request, parts);
    } finally {
      this.#queries.delete(host.id);
      this.#latest.delete(host.id);
    }
  }

  /**
   * Update system of a host by brand and version: XenServer has repositories since version 8
   * (8.3 and later).
   */
  systemOf({ object }: Pick<PoolObject, "object">): UpdateSystem {
    if (object["productBrand"] === "XCP-ng") return xcpNgUpdates;
    const [major = 0, minor = 0] = String(object["version"])
      .split(".")
      .map(Number);
    const hasRepositories = major > 8 || (major === 8 && minor >= 3);
    return hasRepositories ? this.#xenServer : uploadedUpdates;
  }
}
