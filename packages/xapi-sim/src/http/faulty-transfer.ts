import type { SimulatorClock } from "../clock.js";
import type { FaultName, Faults } from "../faults/transport-faults.js";
import { XapiFailure } from "../xapi-failure.js";

/** The transfer ends early, and looks complete. */
export class EndedEarly extends Error {}

/** What a fault does to the connection of a transfer. */
export interface TransferConnection {
  readonly clock: SimulatorClock;
  readonly faults: Faults;
  /** The host has stopped to answer. */
  isSilent(): boolean;
  /** Aborted when the connection has closed. */
  readonly closed: AbortSignal;
  /** Breaks the connection, after what has been sent. */
  cut(): void;
  /** Writes XAPI's page for an exception to where the body should be. */
  sendError(exception: string): void;
}

interface Obstacle {
  /** Bytes of the body that pass before. */
  readonly at: number;
  readonly meet: () => Promise<void>;
}

const PIECES_PER_SECOND = 20;

/** The body of one transfer on its way, changed by the faults that are on when it starts. */
export class FaultyTransfer {
  readonly #connection: TransferConnection;
  /** In order. */
  readonly #obstacles: Obstacle[] = [];
  /** Bytes a second. */
  readonly #rate: number | undefined = undefined;
  /** Offset of the byte whose lowest bit is flipped. */
  readonly #flip: number | undefined = undefined;
  #at = 0;

  /** @param method `http/get_export_raw_vdi` and the like; undefined: no faults but a silent host */
  constructor(connection: TransferConnection, method: string | undefined) {
    this.#connection = connection;
    if (method === undefined) return;
    const { faults, clock } = connection;
    const add = (
      name: FaultName,
      obstacle: (value: number) => Obstacle,
    ): void => {
      const value = faults.trigger(name, method);
      if (value !== undefined)
        this.#obstacles.push(obstacle(value === true ? 0 : value));
    };
    const after = faults.list()["pause"]?.after ?? 0;
    add("pause", (ms) => ({ at: after, meet: () => wait(clock, ms) }));
    add("cut", (at) => ({ at, meet: () => this.#cut() }));
    add("stall", (at) => ({ at, meet: () => this.#stall() }));
    add("earlyEnd", (at) => ({
      at,
      meet: () => Promise.reject(new EndedEarly("the transfer ends early")),
    }));
    add("errorInBody", (at) => ({ at, meet: () => this.#fail() }));
    this.#obstacles.sort((one, other) => one.at - other.at);
    const rate = faults.trigger("trickle", method);
    this.#rate = typeof rate === "number" ? rate : undefined;
    const flip = faults.trigger("bitFlip", method);
    this.#flip = flip === true ? 0 : flip;
  }

  /**
   * Passes on what arrives, as far as the faults let it.
   * @throws EndedEarly, XapiFailure, Error: the transfer is over
   */
  async *pass(chunk: Buffer): AsyncGenerator<Buffer> {
    for (let rest = this.#flipped(chunk); rest.length > 0;) {
      await this.end();
      const piece = rest.subarray(0, this.#pieceBytes(rest.length));
      rest = rest.subarray(piece.length);
      this.#at += piece.length;
      yield piece;
      if (this.#rate !== undefined)
        await wait(this.#connection.clock, (piece.length / this.#rate) * 1000);
    }
  }

  /** Meets what stands at this place of the body. */
  async end(): Promise<void> {
    while ((this.#obstacles[0]?.at ?? Infinity) <= this.#at)
      await this.#obstacles.shift()!.meet();
    if (this.#connection.isSilent()) await this.#stall();
  }

  #pieceBytes(length: number): number {
    const toNext = (this.#obstacles[0]?.at ?? Infinity) - this.#at;
    const atRate = Math.ceil((this.#rate ?? Infinity) / PIECES_PER_SECOND);
    return Math.min(length, toNext, atRate);
  }

  #flipped(chunk: Buffer): Buffer {
    const at = (this.#flip ?? -1) - this.#at;
    if (at < 0 || at >= chunk.length) return chunk;
    const bytes = Buffer.from(chunk);
    bytes[at]! ^= 1;
    return bytes;
  }

  #cut(): Promise<never> {
    this.#connection.cut();
    return Promise.reject(new Error("the connection is cut"));
  }

  #fail(): Promise<never> {
    const failure = new XapiFailure("INTERNAL_ERROR", [
      'Unix.Unix_error(Unix.EIO, "read", "")',
    ]);
    this.#connection.sendError(failure.params[0]!);
    return Promise.reject(failure);
  }

  /** Nothing more passes until the client closes the connection. */
  async #stall(): Promise<never> {
    const { closed } = this.#connection;
    if (!closed.aborted)
      await new Promise((resolve) => {
        closed.addEventListener("abort", resolve, { once: true });
      });
    throw new Error("the client closed the connection");
  }
}

function wait(clock: SimulatorClock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.setTimeout(resolve, ms);
  });
}
