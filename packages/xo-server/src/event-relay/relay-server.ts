import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import type { MonotonicClock, WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { LeaseOwner } from "@xo-server/store";
import type { EventAnswer, FollowedEvents } from "@xo-server/xen-api";
import type { Logger } from "../log/logger.js";
import { PeerAuthenticator } from "../peers/peer-authenticator.js";
import type { ComparedMirror } from "./digest-check.js";
import { encodeDigests } from "./digest-frame.js";
import { encodeAnswer } from "./event-answer.js";
import { FRAME_KEY_BYTES, FrameWriter } from "./event-frames.js";
import type { EventsRequest, RelayMessages } from "./relay-messages.js";

/** An empty frame is sent this often, in ms: a server that stops or hangs is noticed soon. */
export const HEARTBEAT_MS = 1_000;
/** Digests of the mirror are sent at most this often for each pool, in ms. */
export const DIGESTS_MS = 30_000;
/** Of an encoded answer, in bytes; larger ones are requested from XAPI by each server. */
export const MAX_ANSWER_BYTES = 1024 ** 2;
/** Bytes that wait for a server that reads too slowly, before its stream ends. */
const MAX_WAITING_BYTES = 8 * MAX_ANSWER_BYTES;

interface RelayServerOptions {
  readonly messages: Pick<RelayMessages, "openRequest" | "sealAnswer">;
  readonly mirror: Pick<ComparedMirror, "digestsOf">;
  readonly self: LeaseOwner;
  readonly clock: MonotonicClock;
  readonly wallClock: Pick<WallClock, "now">;
  readonly logger: Logger;
}

/** A stream that is ready to be sent. */
interface OpenEvents {
  /** The sealed description. */
  readonly answer: string;
  readonly body: Readable;
}

/** Since the start, except `streams`. */
interface SentEvents {
  /** Streams that are open now. */
  readonly streams: number;
  /** Answers, counted for each server that one was sent to. */
  readonly answers: number;
  readonly bytes: number;
  /** Requests that were not authentic. */
  readonly refused: number;
}

/** A pool whose events this server gets from XAPI. */
interface FollowedPool extends FollowedEvents {
  /** Token of the last answer. */
  token: string;
  /** When digests are sent again. */
  digestsDueAt: number;
  /** By name of the server. */
  readonly streams: Map<string, SentStream>;
}

/** Sends the events of pools to other servers of the database. */
export class RelayServer {
  readonly #options: RelayServerOptions;
  readonly #authenticator: PeerAuthenticator<EventsRequest>;
  readonly #pools = new Map<string, FollowedPool>();
  #answers = 0;
  #bytes = 0;
  #timer: unknown;

  constructor(options: RelayServerOptions) {
    this.#options = options;
    this.#authenticator = new PeerAuthenticator({
      ...options,
      what: "the events of a pool",
    });
  }

  get figures(): SentEvents {
    return {
      streams: this.#streams.length,
      answers: this.#answers,
      bytes: this.#bytes,
      refused: this.#authenticator.refused,
    };
  }

  /**
   * @param sealed as RelayMessages.sealRequest has created it
   * @param address of the client
   * @throws XoError FORBIDDEN, TOO_MANY_REQUESTS; UNSUPPORTED: the events must be requested from XAPI
   */
  async open(sealed: string, address: string): Promise<OpenEvents> {
    const request = await this.#authenticator.authenticate(sealed, address);
    const { poolId, from, answerId } = request;
    const pool = this.#pools.get(poolId);
    if (pool === undefined) throw unavailable("it does not request them");
    if (
      pool.issuer !== request.issuer ||
      JSON.stringify(pool.classes) !== JSON.stringify(request.classes)
    )
      throw unavailable("it follows another XAPI or other classes");
    const key = randomBytes(FRAME_KEY_BYTES);
    const { hasDigests = false } = request;
    const stream = new SentStream({ key, hasDigests }, () => {
      if (pool.streams.get(from) === stream) pool.streams.delete(from);
    });
    pool.streams.get(from)?.end();
    pool.streams.set(from, stream);
    this.#timer ??= this.#startHeartbeats();
    return {
      answer: this.#options.messages.sealAnswer(
        { key: key.toString("base64"), token: pool.token },
        answerId,
      ),
      body: stream,
    };
  }

  /** Sends an answer of XAPI to all servers that follow the pool here. The records are read before it returns. */
  publish(poolId: string, answer: EventAnswer, followed: FollowedEvents): void {
    const pool = this.#pools.get(poolId);
    if (pool === undefined || pool.issuer !== followed.issuer) {
      this.end(poolId);
      const { token } = answer;
      this.#pools.set(poolId, {
        ...followed,
        token,
        digestsDueAt: 0,
        streams: new Map(),
      });
      return;
    }
    pool.token = answer.token;
    if (pool.streams.size === 0) return;
    const encoded = encodeAnswer(answer, MAX_ANSWER_BYTES);
    for (const stream of pool.streams.values()) {
      if (encoded === undefined) stream.end();
      else if (stream.send(encoded)) {
        this.#answers++;
        this.#bytes += encoded.length;
      }
    }
  }

  /** Sends the digests of the mirror, now and then. @param token the mirror has applied the answers up to it, and no later ones */
  onApplied(poolId: string, token: string): void {
    const pool = this.#pools.get(poolId);
    const now = this.#options.clock.now();
    if (pool?.token !== token || now < pool.digestsDueAt) return;
    const streams = [...pool.streams.values()].filter(
      ({ hasDigests }) => hasDigests,
    );
    if (streams.length === 0) return;
    pool.digestsDueAt = now + DIGESTS_MS;
    const digests = this.#options.mirror.digestsOf(poolId);
    const frame = encodeDigests({ token, digests });
    for (const stream of streams) stream.send(frame);
  }

  /** The events of the pool are not requested from XAPI any more, or answers are missing. */
  end(poolId: string): void {
    for (const stream of this.#pools.get(poolId)?.streams.values() ?? [])
      stream.end();
    this.#pools.delete(poolId);
  }

  stop(): void {
    for (const poolId of [...this.#pools.keys()]) this.end(poolId);
    this.#options.clock.clearTimeout(this.#timer);
  }

  get #streams(): readonly SentStream[] {
    return [...this.#pools.values()].flatMap(({ streams }) => [
      ...streams.values(),
    ]);
  }

  #startHeartbeats(): unknown {
    return this.#options.clock.setTimeout(() => {
      const streams = this.#streams;
      for (const stream of streams) stream.send(Buffer.alloc(0));
      this.#timer = streams.length > 0 ? this.#startHeartbeats() : undefined;
    }, HEARTBEAT_MS);
  }
}

/** The body of a response: frames until the stream ends. */
class SentStream extends Readable {
  readonly hasDigests: boolean;
  readonly #frames: FrameWriter;
  readonly #onClose: () => void;

  constructor(
    { key, hasDigests }: { readonly key: Uint8Array; hasDigests: boolean },
    onClose: () => void,
  ) {
    super({ highWaterMark: MAX_WAITING_BYTES });
    this.hasDigests = hasDigests;
    this.#frames = new FrameWriter(key);
    this.#onClose = onClose;
    // Without the first frame the other server would wait for the headers.
    this.send(Buffer.alloc(0));
  }

  override _read(): void {
    // Frames are pushed when there are some.
  }

  override _destroy(
    error: Error | null,
    done: (error?: Error | null) => void,
  ): void {
    this.#onClose();
    done(error);
  }

  /** @returns false: too many bytes wait, and the stream has ended */
  send(content: Uint8Array): boolean {
    if (this.destroyed || this.push(this.#frames.write(content)))
      return !this.destroyed;
    this.destroy();
    return false;
  }

  end(): void {
    this.#onClose();
    this.push(null);
  }
}

function unavailable(reason: string): XoError {
  return new XoError("UNSUPPORTED", { what: "the events of the pool", reason });
}
