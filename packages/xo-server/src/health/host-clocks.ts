import type { WallClock } from "@xo-server/kit";
import { Semaphore } from "@xo-server/inventory";
import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";
import { pause } from "../tasks/pause.js";

interface HostClocksOptions {
  readonly objects: Pick<PoolObjects, "get">;
  readonly clock: WallClock;
}

interface Known {
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly offset: Promise<number | undefined>;
}

const FRESH_MS = 10 * 60_000;
/** Time until a failed request is repeated, in ms. */
const RETRY_MS = 30_000;
const AT_A_TIME = 8;
/** Maximum wait for a host, in ms. A slower host counts as unknown. */
const TIMEOUT_MS = 5_000;

/**
 * Differences between the clocks of hosts and that of this server (XAPI
 * host.get_servertime). Each host is queried at most every ten minutes.
 */
export class HostClocks {
  readonly #options: HostClocksOptions;
  readonly #known = new Map<string, Known>();
  readonly #limit = new Semaphore(AT_A_TIME);

  constructor(options: HostClocksOptions) {
    this.#options = options;
  }

  /**
   * Seconds by which clocks are ahead, by host id, with an error of half a second,
   * because hosts report whole seconds. Hosts that do not answer within five
   * seconds are missing.
   */
  async offsets(hosts: readonly string[]): Promise<Map<string, number>> {
    const offsets = new Map<string, number>();
    const early = new AbortController();
    const all = Promise.all(
      hosts.map(async (host) => {
        const offset = await this.#offset(host);
        if (offset !== undefined) offsets.set(host, offset);
      }),
    );
    await Promise.race([
      all,
      pause(this.#options.clock, TIMEOUT_MS, early.signal),
    ]);
    early.abort();
    return new Map(offsets);
  }

  #offset(host: string): Promise<number | undefined> {
    const now = this.#options.clock.now();
    const known = this.#known.get(host);
    if (known !== undefined && now - known.since < FRESH_MS)
      return known.offset;
    const offset = this.#limit
      .run(() => {
        const { objects, clock } = this.#options;
        return readClockOffset(objects.get(host, "host"), clock);
      })
      // An unreachable host counts as unknown and is queried again soon.
      .catch(() => {
        this.#known.set(host, {
          since: now - FRESH_MS + RETRY_MS,
          offset: Promise.resolve(undefined),
        });
        return undefined;
      });
    this.#known.set(host, { since: now, offset });
    return offset;
  }
}

/**
 * Seconds by which the clock of a host is ahead of that of this server, with an
 * error of half a second.
 * @throws XapiError, XoError; RangeError for an answer in another format
 */
export async function readClockOffset(
  { xapi, ref }: Pick<PoolObject, "xapi" | "ref">,
  clock: Pick<WallClock, "now">,
): Promise<number> {
  const sent = clock.now();
  const text = String(await xapi.call("host.get_servertime", [ref]));
  const middle = (sent + clock.now()) / 2;
  // XAPI truncates to whole seconds: adding half a second gives the best estimate.
  return (toMs(text) + 500 - middle) / 1000;
}

/** XAPI writes `20261123T03:30:00Z`. */
function toMs(text: string): number {
  const ms = Date.parse(text.replace(/^(\d{4})-?(\d\d)-?(\d\d)T/, "$1-$2-$3T"));
  if (Number.isNaN(ms)) throw new RangeError(`not a time: ${text}`);
  return ms;
}
