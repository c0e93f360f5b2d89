import type { MonotonicClock } from "@xo-server/kit";
import type { Logger } from "../log/logger.js";
import type { ClassDigests } from "./digest-frame.js";

/** The mirror of all pools, as far as it is compared with that of another server. */
export interface ComparedMirror {
  /** Of a pool. */
  readonly digestsOf: (poolId: string) => ClassDigests;
  /**
   * Compares classes of a pool with XAPI, and repairs them.
   * @returns number of objects that differed
   * @throws XoError, XapiError
   */
  readonly verify: (
    poolId: string,
    classes: readonly string[],
  ) => Promise<number>;
}

/** A pool whose digests differed is not compared with XAPI again within this time, in ms. */
export const REPEAT_MS = 10 * 60_000;

interface DigestCheckOptions {
  readonly mirror: ComparedMirror;
  readonly clock: MonotonicClock;
  readonly logger: Logger;
}

/**
 * Compares the mirror with that of the server whose events it has applied. Which of the two
 * is wrong is not known: classes that differ are compared with the pool.
 */
export class DigestCheck {
  readonly #options: DigestCheckOptions;
  readonly #counts = { compared: 0, different: 0 };
  /** By pool: until when it is not compared with XAPI again. */
  readonly #until = new Map<string, number>();

  constructor(options: DigestCheckOptions) {
    this.#options = options;
  }

  /** Since the start. */
  get figures(): { readonly compared: number; readonly different: number } {
    return { ...this.#counts };
  }

  /**
   * To be called when the mirror has applied the same events as that of the sender.
   * @param sender name of its server
   * @param theirs its digests; classes that only one of the two mirrors are not compared
   */
  compare(poolId: string, sender: string, theirs: ClassDigests): void {
    const { mirror, clock } = this.#options;
    const own = mirror.digestsOf(poolId);
    const classes = Object.keys(theirs).filter(
      (name) => own[name] !== undefined && own[name] !== theirs[name],
    );
    this.#counts.compared++;
    if (classes.length === 0) return;
    this.#counts.different++;
    if (clock.now() < (this.#until.get(poolId) ?? -Infinity)) return;
    this.#until.set(poolId, clock.now() + REPEAT_MS);
    void this.#verify(poolId, sender, classes);
  }

  /** Never rejects. */
  async #verify(
    poolId: string,
    sender: string,
    classes: readonly string[],
  ): Promise<void> {
    const { mirror, logger } = this.#options;
    const names = classes.join(", ");
    logger.warn(
      `${poolId}: after the same events, the digests of server ${sender} differ (${names}): these classes are compared with the pool`,
    );
    try {
      const differences = await mirror.verify(poolId, classes);
      logger.warn(
        differences === 0
          ? `${poolId}: ${names} are as in the pool`
          : `${poolId}: ${names}: ${differences} objects differed from the pool, and were repaired`,
      );
    } catch (error) {
      logger.warn(`${poolId}: ${names} could not be compared with the pool`, {
        error,
      });
    }
  }
}
