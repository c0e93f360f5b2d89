import { pause, type Logger } from "@xo-server/kit";
import { XoError, type ErrorCode } from "@xo-server/model";
import { addressName, addressUrl, type Address } from "./address.js";
import {
  dial,
  startTls,
  type DialedSocket,
  type DialExtra,
  type DialOptions,
} from "./dial.js";
import { raceWays, type RaceResult } from "./dial-race.js";
import type { IndirectRoute, MemberSocket } from "./indirect-route.js";

/** A direct connection that is not established within this time, in ms, is also attempted indirectly. */
const HEAD_START_MS = 1_000;
/** An indirect connection is established within this time, in ms, or not at all: failures take no longer than without it. */
const INDIRECT_MS = 5_000;
/**
 * Time after which a direct way that has not worked once counts as closed, in ms: a lost packet is sent again after 1 s,
 * and again after 3 s. Also the interval at which it is tried again.
 */
const DOUBT_MS = 3_000;
/** Time without indirect attempts after one that has failed, in ms; twice as long after each further one. */
const FIRST_SKIP_MS = 1_000;
const MAX_SKIP_MS = 16_000;

interface MemberPathOptions {
  readonly address: Address;
  readonly dialing: DialOptions;
  readonly route: IndirectRoute;
  readonly logger: Logger;
  readonly label: string;
  /** Aborted when the client is closed. */
  readonly closing: AbortSignal;
}

interface OpenSocket extends Pick<DialExtra, "mayEnd"> {
  readonly via: string | undefined;
  /** Bytes at the last check. */
  progress: number;
}

/**
 * How one member is reached.
 *
 *   direct --an indirect connection was established, no direct one--> doubtful
 *   doubtful --no direct connection within DOUBT_MS--> indirect
 *   doubtful, indirect --a direct connection--> direct
 *
 * While it is not reached directly, connections of the former way on which nothing passes are closed,
 * as packets on them may be dropped without an answer; direct ones are tried again.
 */
export class MemberPath {
  readonly #options: MemberPathOptions;
  readonly #sockets = new Map<MemberSocket, OpenSocket>();
  #state: "direct" | "doubtful" | "indirect" = "direct";
  /** Of the last indirect connection. */
  #via: string | undefined;
  #doubts = 0;
  /** Indirect connections that have failed in a row, and until when no further one is attempted beside a direct one. */
  #failures = 0;
  #skippedUntil = -Infinity;

  constructor(options: MemberPathOptions) {
    this.#options = options;
  }

  /** Name of what the member is reached through; undefined: directly. */
  get via(): string | undefined {
    return this.#state === "indirect" ? this.#via : undefined;
  }

  /** Whether calls may be sent on a connection that was established in this way. */
  isUsable(via: string | undefined): boolean {
    return this.#state !== "doubtful" && via === this.via;
  }

  /** @throws as dial */
  async dial(extra: DialExtra): Promise<DialedSocket> {
    const { dialing, address, route } = this.#options;
    const isSkipped = dialing.clock.now() < this.#skippedUntil;
    if (this.#state === "direct" && (isSkipped || !route.isAvailable))
      return this.#track(await dial(address, dialing, extra), extra);
    const result = await raceWays({
      ways: {
        direct: (signal) => dial(address, dialing, { ...extra, signal }),
        indirect: (signal) => this.#dialIndirect(signal),
      },
      first: this.#state === "indirect" ? "indirect" : "direct",
      headStartMs: this.#state === "doubtful" ? 0 : HEAD_START_MS,
      isPathFailure,
      clock: dialing.clock,
      signal: extra.signal,
    });
    this.#onResult(result);
    return this.#track(result.dialed, extra);
  }

  #onResult({ way, dialed, failure, isDirect }: RaceResult): void {
    if (way === "direct") this.#onDirect();
    else this.#onIndirect(dialed.via, failure);
    void isDirect.then((is) => {
      if (is) this.#onDirect();
    });
  }

  async #dialIndirect(signal: AbortSignal): Promise<DialedSocket> {
    const { address, dialing, route } = this.#options;
    const ended = new AbortController();
    const timer = dialing.clock.setTimeout(() => {
      ended.abort();
    }, INDIRECT_MS);
    const signals = AbortSignal.any([signal, ended.signal]);
    try {
      const { socket, via } = await route.connect(addressUrl(address), signals);
      const dialed = await startTls(socket, address, dialing, signals);
      this.#failures = 0;
      return { ...dialed, via };
    } catch (error) {
      if (!signal.aborted) this.#onIndirectFailure();
      throw error;
    } finally {
      dialing.clock.clearTimeout(timer);
    }
  }

  /** A member that is down is not reached by other servers either. */
  #onIndirectFailure(): void {
    const ms = FIRST_SKIP_MS * 2 ** this.#failures++;
    this.#skippedUntil =
      this.#options.dialing.clock.now() + Math.min(ms, MAX_SKIP_MS);
  }

  #track(
    dialed: DialedSocket,
    { mayEnd }: Pick<DialExtra, "mayEnd">,
  ): DialedSocket {
    const { socket, via } = dialed;
    const progress = progressOf(socket);
    this.#sockets.set(socket, { via, progress, ...(mayEnd && { mayEnd }) });
    socket.once("close", () => {
      this.#sockets.delete(socket);
    });
    return dialed;
  }

  #onDirect(): void {
    const { logger } = this.#options;
    if (this.#state === "indirect")
      logger.info(`${this.#name} is reached directly again`);
    this.#state = "direct";
  }

  #onIndirect(via: string | undefined, failure: Error | undefined): void {
    this.#via = via;
    if (this.#state !== "direct") return;
    this.#state = "doubtful";
    for (const [socket, open] of this.#sockets)
      open.progress = progressOf(socket);
    void this.#watch(++this.#doubts, failure);
  }

  /** Runs while the member is not reached directly. Never rejects. */
  async #watch(doubt: number, failure: Error | undefined): Promise<void> {
    const { dialing, closing, logger } = this.#options;
    const { clock } = dialing;
    await pause(clock, DOUBT_MS, closing);
    if (this.#state !== "doubtful" || closing.aborted) return;
    // It was reached directly meanwhile.
    if (doubt !== this.#doubts) return;
    this.#state = "indirect";
    const reason = failure?.message ?? "no answer";
    logger.warn(
      `${this.#name} cannot be reached directly (${reason}), but through ${this.#via}`,
    );
    while (this.#state === "indirect" && !closing.aborted) {
      this.#endSilent();
      await pause(clock, DOUBT_MS, closing);
      if (!closing.aborted) await this.#tryDirect();
    }
  }

  /** Never rejects. */
  async #tryDirect(): Promise<void> {
    const { address, dialing, closing } = this.#options;
    const options = { ...dialing, connectTimeoutMs: DOUBT_MS };
    try {
      const dialed = await dial(address, options, { signal: closing });
      dialed.socket.destroy();
      this.#onDirect();
    } catch (error) {
      // The member answers: callers get this error, as before.
      if (!isPathFailure(error) && !closing.aborted) this.#onDirect();
    }
  }

  /** Closes connections of other ways than the current one on which nothing has passed since the last time. */
  #endSilent(): void {
    const reason = `nothing is received, and it is reached through ${this.#via} now`;
    for (const [socket, open] of this.#sockets) {
      const progress = progressOf(socket);
      const isSilent = progress === open.progress;
      open.progress = progress;
      const mayEnd = isSilent && open.mayEnd?.() !== false;
      if (mayEnd && open.via !== this.#via) socket.destroy(new Error(reason));
    }
  }

  get #name(): string {
    const { label, address } = this.#options;
    return `${label}: ${addressName(address)}`;
  }
}

const PATH_FAILURES: ReadonlySet<ErrorCode> = new Set([
  "CONNECTION_LOST",
  "CONNECTION_REFUSED",
  "CONNECTION_TIMEOUT",
  "UNREACHABLE",
]);

/** Whether the member could be reached in another way. Not after an answer, such as an invalid certificate. */
function isPathFailure(error: unknown): boolean {
  return error instanceof XoError && PATH_FAILURES.has(error.code);
}

/** Bytes that have passed, as far as known here. */
function progressOf(socket: MemberSocket): number {
  return socket.bytesRead + socket.bytesWritten - socket.writableLength;
}
