import type { SimulatorClock } from "../clock.js";
import type { Faults } from "../faults/transport-faults.js";
import type { FaultyTransfer } from "../http/faulty-transfer.js";
import type { Extent } from "../disks/extents.js";
import { ALLOCATION_ID, type NegotiatedExport } from "./negotiation.js";
import {
  allocation,
  chunkHead,
  chunkType,
  command,
  commandFlags,
  errorChunk,
  nbdError,
  readRequest,
  REQUEST_BYTES,
  simpleReply,
  uint32,
  uint64,
  type NbdRequest,
} from "./nbd-protocol.js";
import { ConnectionEnded, type NbdStream } from "./nbd-stream.js";

/** Of the bytes of a disk, in one piece. */
const PIECE = 2 ** 20;
const MAX_READ = 32 * 2 ** 20;
const MAX_EXTENTS = 8192;

/** The faults of this connection. */
interface TransmissionFaults {
  readonly faults: Faults;
  readonly clock: SimulatorClock;
  /** Of the bytes that are read. */
  readonly transfer: FaultyTransfer;
}

/** Commands of a client, one after the other, until it disconnects. */
export class Transmission {
  readonly #agreement: NegotiatedExport;
  readonly #stream: NbdStream;
  readonly #faulty: TransmissionFaults;

  constructor(agreement: NegotiatedExport, faulty: TransmissionFaults) {
    this.#agreement = agreement;
    this.#stream = agreement.stream;
    this.#faulty = faulty;
  }

  /** @throws ConnectionEnded */
  async run(): Promise<void> {
    for (;;) {
      const request = readRequest(await this.#stream.read(REQUEST_BYTES));
      if (request === undefined || request.type === command.disconnect) return;
      await this.#serve(request);
    }
  }

  async #serve(request: NbdRequest): Promise<void> {
    const { type, length } = request;
    await this.#wait();
    if (type === command.write) {
      if (length > MAX_READ) throw new ConnectionEnded("too much at once");
      await this.#stream.skip(length);
    }
    const error = this.#errorOf(request);
    if (error !== undefined) await this.#fail(request, error);
    else if (type === command.blockStatus) await this.#blockStatus(request);
    else if (this.#agreement.isStructured) await this.#readChunks(request);
    else await this.#readPlain(request);
  }

  /** @returns undefined where the request can be served */
  #errorOf({ type, offset, length, flags }: NbdRequest): number | undefined {
    const { disk, isStructured, hasAllocation } = this.#agreement;
    const isWrite =
      type === command.write ||
      type === command.trim ||
      type === command.writeZeroes;
    if (isWrite) return nbdError.EPERM;
    if (type === command.blockStatus && !(isStructured && hasAllocation))
      return nbdError.EINVAL;
    if (type !== command.read && type !== command.blockStatus)
      return nbdError.EINVAL;
    if (length === 0 || offset + length > disk.size) return nbdError.EINVAL;
    const isFragmented =
      !isStructured && (flags & commandFlags.dontFragment) !== 0;
    if (type === command.read && (length > MAX_READ || isFragmented))
      return nbdError.EINVAL;
    const injected = this.#faulty.faults.trigger("nbdError", "nbd");
    return injected === true ? nbdError.EIO : injected;
  }

  /** Faults before a reply: late, or never. */
  async #wait(): Promise<void> {
    const { faults, clock } = this.#faulty;
    const ms = faults.takeNamed("delay", "nbd");
    if (typeof ms === "number")
      await new Promise<void>((resolve) => {
        clock.setTimeout(resolve, ms);
      });
    if (faults.takeNamed("hang", "nbd") === undefined) return;
    for (;;) await this.#stream.read(1);
  }

  #fail({ handle }: NbdRequest, error: number): Promise<void> {
    return this.#stream.write(
      this.#agreement.isStructured
        ? errorChunk(handle, error)
        : simpleReply(handle, error),
    );
  }

  async #readPlain({ handle, offset, length }: NbdRequest): Promise<void> {
    await this.#stream.write(simpleReply(handle, 0));
    await this.#send(offset, length);
  }

  async #readChunks(request: NbdRequest): Promise<void> {
    const { handle, offset, length, flags } = request;
    if ((flags & commandFlags.dontFragment) !== 0) {
      await this.#dataChunk(handle, { offset, length, isLast: true });
      return;
    }
    const extents = this.#agreement.disk
      .extents(offset, length)
      .flatMap(pieces);
    for (const [i, extent] of extents.entries()) {
      const part = { ...extent, isLast: i === extents.length - 1 };
      if (extent.kind === "data") await this.#dataChunk(handle, part);
      else await this.#holeChunk(handle, part);
    }
  }

  async #dataChunk(handle: Buffer, part: ReplyPart): Promise<void> {
    const { offset, length, isLast } = part;
    const head = chunkHead(handle, chunkType.offsetData, {
      length: 8 + length,
      isLast,
    });
    await this.#stream.write(Buffer.concat([head, uint64(offset)]));
    await this.#send(offset, length);
  }

  #holeChunk(handle: Buffer, part: ReplyPart): Promise<void> {
    const { offset, length, isLast } = part;
    const head = chunkHead(handle, chunkType.offsetHole, {
      length: 12,
      isLast,
    });
    return this.#stream.write(
      Buffer.concat([head, uint64(offset), uint32(length)]),
    );
  }

  async #blockStatus(request: NbdRequest): Promise<void> {
    const { handle, offset, length, flags } = request;
    const isOne = (flags & commandFlags.requestOne) !== 0;
    const extents = this.#agreement.disk
      .extents(offset, length)
      .slice(0, isOne ? 1 : MAX_EXTENTS);
    const body = uint32(
      ALLOCATION_ID,
      ...extents.flatMap((extent) => [
        extent.length,
        extent.kind === "data" ? allocation.data : allocation.holeOfZeros,
      ]),
    );
    const head = chunkHead(handle, chunkType.blockStatus, {
      length: body.length,
      isLast: true,
    });
    await this.#stream.write(Buffer.concat([head, body]));
  }

  /** Bytes of the disk, as far as faults let them pass. */
  async #send(offset: number, length: number): Promise<void> {
    for (let done = 0; done < length; done += PIECE) {
      const piece = Buffer.allocUnsafe(Math.min(PIECE, length - done));
      this.#agreement.disk.read(offset + done, piece);
      for await (const part of this.#faulty.transfer.pass(piece))
        await this.#stream.write(part);
    }
  }
}

interface ReplyPart {
  readonly offset: number;
  readonly length: number;
  readonly isLast: boolean;
}

/** Data in pieces, zeros whole. */
function pieces(extent: Extent): readonly Extent[] {
  if (extent.kind === "zero") return [extent];
  const { offset, length, kind } = extent;
  return Array.from({ length: Math.ceil(length / PIECE) }, (_, i) => ({
    offset: offset + i * PIECE,
    length: Math.min(PIECE, length - i * PIECE),
    kind,
  }));
}
