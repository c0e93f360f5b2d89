import type { Readable } from "node:stream";
import { pause, type MonotonicClock } from "@xo-server/kit";
import { isOlderToken, type RelayRequest } from "@xo-server/xen-api";
import { decodeDigests, type MirrorDigests } from "./digest-frame.js";
import { tokenOf } from "./event-answer.js";
import { FrameReader } from "./event-frames.js";
import { HEARTBEAT_MS, MAX_ANSWER_BYTES } from "./relay-server.js";

/** A server that has sent nothing for this time, in ms, has stopped or hangs. */
export const SILENT_MS = 3 * HEARTBEAT_MS;
/** Answers that wait until the client takes them, in bytes; it may be following XAPI itself. */
const MAX_WAITING_BYTES = 8 * MAX_ANSWER_BYTES;

interface RelayedEventsOptions {
  readonly body: Readable;
  /** Of the frames. */
  readonly key: Uint8Array;
  /** Token of event.from: the stream contains all answers after it. */
  readonly from: string;
  readonly clock: MonotonicClock;
  readonly onDigests: (digests: MirrorDigests) => void;
  readonly onClose: (reason: string) => void;
}

/** The answers of event.from that another server sends, until its stream ends or is silent. */
export class RelayedEvents {
  readonly #options: RelayedEventsOptions;
  readonly #frames: FrameReader;
  /** Encoded answers, in order. */
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #isClosed = false;
  #silence: unknown;
  /** Aborted when an answer arrives or the stream ends. */
  #arrival = new AbortController();

  constructor(options: RelayedEventsOptions) {
    this.#options = options;
    this.#frames = new FrameReader(options.key, MAX_ANSWER_BYTES);
    const { body } = options;
    body.on("data", (chunk: Buffer) => {
      this.#onData(chunk);
    });
    body.on("error", (error) => {
      this.close(error.message);
    });
    body.on("close", () => {
      this.close("its stream has ended");
    });
    this.#waitForData();
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /**
   * The next answer that is not older than the token. If the token is between those of two answers,
   * the later one contains all changes after it, as XAPI sends each object as it is at the end.
   * @returns undefined: closed, aborted, none in time, or the stream begins later than the token
   */
  async next({
    token,
    waitMs,
    signals,
  }: Pick<RelayRequest, "token" | "waitMs" | "signals">): Promise<
    Buffer | undefined
  > {
    const { clock, from } = this.#options;
    if (isOlderToken(token, from)) return undefined;
    const until = clock.now() + waitMs;
    for (;;) {
      const found = this.#take(token);
      const restMs = until - clock.now();
      if (found !== undefined || this.#isClosed) return found;
      if (signals.some(({ aborted }) => aborted) || restMs <= 0)
        return undefined;
      this.#arrival = new AbortController();
      await pause(clock, restMs, this.#arrival.signal, ...signals);
    }
  }

  close(reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#options.clock.clearTimeout(this.#silence);
    this.#waiting = [];
    this.#options.body.destroy();
    this.#options.onClose(reason);
    this.#arrival.abort("arrived");
  }

  #take(token: string): Buffer | undefined {
    for (;;) {
      const encoded = this.#waiting.shift();
      if (encoded === undefined) return undefined;
      this.#waitingBytes -= encoded.length;
      if (!isOlderToken(tokenOf(encoded), token)) return encoded;
    }
  }

  #onData(chunk: Buffer): void {
    this.#waitForData();
    try {
      for (const content of this.#frames.read(chunk)) {
        // A heartbeat.
        if (content.length === 0) continue;
        const digests = decodeDigests(content);
        if (digests !== undefined) {
          this.#options.onDigests(digests);
          continue;
        }
        this.#waiting.push(content);
        this.#waitingBytes += content.length;
      }
    } catch (error) {
      this.close((error as Error).message);
      return;
    }
    if (this.#waitingBytes > MAX_WAITING_BYTES)
      this.close("its answers were not taken");
    this.#arrival.abort("arrived");
  }

  #waitForData(): void {
    const { clock } = this.#options;
    clock.clearTimeout(this.#silence);
    if (this.#isClosed) return;
    this.#silence = clock.setTimeout(() => {
      this.close(`nothing was received for ${SILENT_MS / 1000} s`);
    }, SILENT_MS);
  }
}
