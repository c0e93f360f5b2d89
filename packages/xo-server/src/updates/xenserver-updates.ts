import { XapiError, XoError } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { PoolObject } from "../objects/pool-objects.js";
import {
  advisoriesIn,
  byName,
  type AfterInstallation,
  type MissingPatch,
} from "./missing-patch.js";
import type { UpdateSystem } from "./update-system.js";

/** Minimum interval between synchronisations of the repository, in ms. */
const SYNC_MS = 10 * 60_000;
/**
 * Maximum size of the response to `GET /updates`, in bytes, for a pool with many
 * hosts and updates.
 */
const MAX_BYTES = 64 * 2 ** 20;

/**
 * Refusals that a rolling update handles: it disables HA, and its plan names hosts
 * that are down.
 */
const LOOKED_AFTER: ReadonlySet<string> = new Set([
  "HA_IS_ENABLED",
  "HOST_OFFLINE",
]);

interface Synced {
  readonly hash: Promise<string>;
  readonly at: number;
}

interface Answer {
  readonly hosts?: readonly {
    readonly ref?: string;
    readonly updates?: readonly string[];
  }[];
  readonly updates?: readonly Update[];
}

interface Update {
  readonly id?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly "special-info"?: string;
  readonly URL?: string;
  readonly type?: string;
  readonly issued?: string;
  readonly guidance?: { readonly mandatory?: readonly string[] };
}

/** Updates of XenServer 8, from the repository that the pool synchronises. */
export class XenServerUpdates implements UpdateSystem {
  readonly name = "xenserver";
  readonly #clock: { now(): number };
  /** Synchronisations by the id of the pool. */
  readonly #synced = new Map<string, Synced>();

  constructor(clock: { now(): number }) {
    this.#clock = clock;
  }

  async list(host: PoolObject): Promise<readonly MissingPatch[]> {
    await this.#sync(host);
    const answer = await read(host);
    const own = answer.hosts?.find(({ ref }) => ref === host.ref);
    const ids = new Set(own?.updates);
    return (answer.updates ?? [])
      .filter(({ id }) => id !== undefined && ids.has(id))
      .map(toPatch)
      .sort(byName);
  }

  /** Leaves out refusals that a rolling update handles. */
  async refusals({
    xapi,
  }: PoolObject): Promise<readonly (readonly string[])[]> {
    const [pool] = (await xapi.call("pool.get_all")) as string[];
    try {
      const all = (await xapi.call(
        "pool.check_update_readiness",
        // The plan already reports VMs that cannot be migrated.
        [pool, false],
        { idempotent: true },
      )) as readonly (readonly string[])[];
      return all.filter(([code = ""]) => !LOOKED_AFTER.has(code));
    } catch (error) {
      // Versions before 8.4.
      if (error instanceof XapiError && error.code === "MESSAGE_METHOD_UNKNOWN")
        return [];
      throw error;
    }
  }

  /** Installs all updates at once, because XAPI installs what it has synchronised. */
  async install(host: PoolObject): Promise<void> {
    const hash = await this.#sync(host);
    await host.xapi.callAsync("host.apply_updates", [host.ref, hash]);
  }

  /** @returns the hash of the updates, which a call must contain to install them */
  #sync({ object, xapi }: PoolObject): Promise<string> {
    const pool = String(object["$pool"]);
    const now = this.#clock.now();
    const known = this.#synced.get(pool);
    if (known !== undefined && now - known.at < SYNC_MS) return known.hash;
    const entry = { hash: synchronise(xapi), at: now };
    this.#synced.set(pool, entry);
    entry.hash.catch(() => {
      if (this.#synced.get(pool) === entry) this.#synced.delete(pool);
    });
    return entry.hash;
  }
}

async function synchronise(xapi: Xapi): Promise<string> {
  const [pool] = (await xapi.call("pool.get_all")) as string[];
  const params = [pool, false, "", ""];
  return String(await xapi.callAsync("pool.sync_updates", params));
}

async function read({ xapi, ref }: PoolObject): Promise<Answer> {
  const query = { host_refs: ref };
  const { body } = await xapi.getStream({ path: "/updates", query });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_BYTES) {
      body.destroy();
      throw unreadable("the list of updates is too long");
    }
    chunks.push(chunk as Buffer);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString()) as Answer;
  } catch {
    throw unreadable("the pool returned no list of updates");
  }
}

function unreadable(reason: string): XoError {
  return new XoError("UNSUPPORTED", {
    what: "listing missing patches",
    reason,
  });
}

/** XAPI's guidances, from the least to the most extensive. */
const guidances: readonly (readonly [string, AfterInstallation])[] = [
  ["RebootHost", "reboot-host"],
  ["EvacuateHost", "reboot-host"],
  ["RestartVM", "reboot-vm"],
  ["RestartDeviceModel", "restart-device-model"],
  ["RestartToolstack", "restart-toolstack"],
];

function toPatch(update: Update): MissingPatch {
  const { id = "", summary = "", description = "", issued } = update;
  const { mandatory = [] } = update.guidance ?? {};
  const after = guidances.find(([name]) => mandatory.includes(name))?.[1];
  const special = update["special-info"] ?? "";
  return {
    id,
    name: id,
    description: summary,
    version: "",
    url: update.URL ?? "",
    changelog:
      description === ""
        ? null
        : { author: "", description, date: toSeconds(issued) },
    after: after ?? "nothing",
    isSecurity: update.type === "security",
    advisories: advisoriesIn(summary, description, special),
  };
}

/** @param time such as 20261020T08:00:00Z */
function toSeconds(time = ""): number {
  const iso = time.replace(/^(\d{4})(\d\d)(\d\d)T/, "$1-$2-$3T");
  return Math.floor((Date.parse(iso) || 0) / 1000);
}
