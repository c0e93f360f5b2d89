import type { WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { PoolObject } from "../objects/pool-objects.js";
import { Semaphore } from "@xo-server/inventory";

/** A package, as the updater of XCP-ng reports it: name, version, release, description, size, changelog ... */
export type MissingPatch = Readonly<Record<string, unknown>>;

/** The updater reads its repositories: seconds, on the host. */
const FRESH_MS = 10 * 60_000;
const AT_A_TIME = 8;

interface Known {
  readonly patches: Promise<readonly MissingPatch[]>;
  readonly since: number;
}

/**
 * Packages that hosts have not installed. Only XCP-ng hosts report them, by their updater plugin.
 * It is queried at most every ten minutes; concurrent callers share the query.
 */
export class MissingPatches {
  readonly #clock: Pick<WallClock, "now">;
  readonly #known = new Map<string, Known>();
  readonly #turns = new Semaphore(AT_A_TIME);

  constructor(clock: Pick<WallClock, "now">) {
    this.#clock = clock;
  }

  /** @throws XoError UNSUPPORTED: not an XCP-ng; what the plugin or the pool refused */
  of(host: PoolObject): Promise<readonly MissingPatch[]> {
    const { id, object } = host;
    if (object["productBrand"] !== "XCP-ng") {
      const reason = "only XCP-ng hosts report missing updates";
      return Promise.reject(
        new XoError("UNSUPPORTED", { what: "the list of updates", reason }),
      );
    }
    const now = this.#clock.now();
    const known = this.#known.get(id);
    if (known !== undefined && now - known.since < FRESH_MS)
      return known.patches;
    const patches = this.#turns.run(() => ask(host));
    const entry = { patches, since: now };
    this.#known.set(id, entry);
    patches.catch(() => {
      if (this.#known.get(id) === entry) this.#known.delete(id);
    });
    return patches;
  }
}

async function ask({ xapi, ref }: PoolObject): Promise<MissingPatch[]> {
  const params = [ref, "updater.py", "check_update", {}];
  const text = String(await xapi.call("host.call_plugin", params));
  const all = parse(text);
  if (Array.isArray(all))
    return all.filter(
      (one): one is MissingPatch => typeof one === "object" && one !== null,
    );
  const reason = "the plugin updater.py returned no list of updates";
  throw new XoError("UNSUPPORTED", { what: "listing missing patches", reason });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
