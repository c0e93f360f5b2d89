import { randomUUID } from "node:crypto";
import { pause, type WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { SignInAttempts } from "@xo-server/store";
import {
  EXPIRE_MS,
  keysOf,
  LoginThrottle,
  resetKeysOf,
  waitAfter,
  type ThrottledAttempt,
} from "./login-throttle.js";

export interface SignInThrottleOptions {
  /** Attempts at all servers of the database. Absent: there is only one server. */
  readonly shared?: Pick<SignInAttempts, "read" | "begin" | "fail" | "end">;
  readonly clock: WallClock;
}

/**
 * An attempt that may be verified now. Exactly one of its methods must be called;
 * further calls have no effect on other servers.
 */
export interface AdmittedAttempt {
  readonly fail: () => Promise<void>;
  readonly succeed: () => Promise<void>;
  /**
   * Neither a success nor a failure: the attempt was abandoned, or a second factor
   * is still missing.
   */
  readonly end: () => Promise<void>;
}

/**
 * Time for which an attempt of a server that was killed delays other attempts, in
 * ms. Longer than a directory may take.
 */
const ATTEMPT_MS = 20_000;
/** Time after which an attempt stops waiting for attempts at other servers, in ms. */
const BUSY_MS = 10_000;
/**
 * Interval of polling whether the attempt may begin, in ms; with jitter, so that no
 * server is always first.
 */
const ASK_MS = 40;

/**
 * Delays attempts after failures (see LoginThrottle). Servers with one database
 * count together: an attempt begins only if no other one with the same name or
 * address is in progress on any server, so that an attacker has as many tries as
 * with one server. While the database is unreachable, each server counts alone.
 */
export class SignInThrottle {
  readonly #options: SignInThrottleOptions;
  readonly #local: LoginThrottle;

  constructor(options: SignInThrottleOptions) {
    this.#options = options;
    this.#local = new LoginThrottle(options.clock);
  }

  /**
   * Checks the failures that this server knows of.
   * @throws XoError SIGN_IN_THROTTLED
   */
  checkHere(attempt: ThrottledAttempt): void {
    // With several servers, another one may have reset the failures after a success.
    if (this.#options.shared === undefined) refuse(this.#local.waitMs(attempt));
  }

  /** @throws XoError SIGN_IN_THROTTLED */
  async check(attempt: ThrottledAttempt): Promise<void> {
    const { shared } = this.#options;
    const keys = keysOf(attempt);
    const failures = await shared
      ?.read(keys.map(({ key }) => key))
      .catch(onlyUnavailable);
    refuse(
      failures === undefined
        ? this.#local.waitMs(attempt)
        : this.#longest(keys, failures),
    );
  }

  /**
   * @throws XoError SIGN_IN_THROTTLED, TOO_MANY_REQUESTS: other attempts were in
   * progress for 10 s
   */
  async begin(attempt: ThrottledAttempt): Promise<AdmittedAttempt> {
    const id = randomUUID();
    await this.check(attempt);
    const isShared = await this.#beginShared(id, attempt);
    let shared = isShared ? this.#options.shared : undefined;
    const takeShared = () => {
      const taken = shared;
      shared = undefined;
      return taken;
    };
    const keys = keysOf(attempt).map(({ key }) => key);
    return {
      fail: async () => {
        this.#local.recordFailure(attempt);
        await takeShared()?.fail(id, keys, EXPIRE_MS).catch(onlyUnavailable);
      },
      succeed: async () => {
        this.#local.recordSuccess(attempt);
        await takeShared()
          ?.end(id, resetKeysOf(attempt))
          .catch(onlyUnavailable);
      },
      end: async () => {
        await takeShared()?.end(id).catch(onlyUnavailable);
      },
    };
  }

  /** @returns false: the database is unreachable, this server counts alone */
  async #beginShared(id: string, attempt: ThrottledAttempt): Promise<boolean> {
    const { shared, clock } = this.#options;
    if (shared === undefined) return false;
    const keys = keysOf(attempt);
    const until = clock.now() + BUSY_MS;
    let waitMs = 0;
    for (;;) {
      const begun = await shared
        .begin({
          id,
          keys: keys.map(({ key }) => key),
          forMs: ATTEMPT_MS,
          mayBegin: (failures) => {
            waitMs = this.#longest(keys, failures);
            return waitMs === 0;
          },
        })
        .catch(onlyUnavailable);
      if (begun === "refused") refuse(waitMs);
      if (begun !== "busy") return begun === "begun";
      if (clock.now() >= until)
        throw new XoError("TOO_MANY_REQUESTS", { reason: "sign-in attempts" });
      await pause(clock, ASK_MS * (0.5 + Math.random()));
    }
  }

  #longest(
    keys: ReturnType<typeof keysOf>,
    failures: readonly { readonly count: number; readonly time: number }[],
  ): number {
    const now = this.#options.clock.now();
    return Math.max(
      ...keys.map(({ free }, i) => waitAfter(failures[i]!, free, now)),
    );
  }
}

function refuse(retryAfterMs: number): void {
  if (retryAfterMs === 0) return;
  const seconds = Math.ceil(retryAfterMs / 1000);
  throw new XoError("SIGN_IN_THROTTLED", { seconds, retryAfterMs });
}

/** @throws other errors */
function onlyUnavailable(error: unknown): undefined {
  if (error instanceof XoError && error.code === "STORE_UNAVAILABLE")
    return undefined;
  throw error;
}
