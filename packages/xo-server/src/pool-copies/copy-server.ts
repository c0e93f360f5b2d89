import { pipeline, type Readable } from "node:stream";
import {
  snapshotLayout,
  type Inventory,
  type SnapshotCopy,
} from "@xo-server/inventory";
import type { MonotonicClock, WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { LeaseOwner } from "@xo-server/store";
import type { Logger } from "../log/logger.js";
import { PeerAuthenticator } from "../peers/peer-authenticator.js";
import type { CopyMessages, CopyRequest } from "./copy-messages.js";
import { CopyTransfer } from "./copy-transfer.js";

/** Copies that are sent at a time; further requests are refused. */
const MAX_SENT = 8;

interface CopyServerOptions extends Pick<Inventory, "openSnapshotCopy"> {
  readonly messages: Pick<CopyMessages, "openRequest" | "sealAnswer">;
  readonly self: LeaseOwner;
  readonly clock: MonotonicClock;
  readonly wallClock: Pick<WallClock, "now">;
  readonly logger: Logger;
}

/** A copy that is ready to be sent. */
interface OpenCopy {
  /** The sealed description. */
  readonly answer: string;
  readonly bytes: number;
  readonly body: Readable;
}

/** Counts since the start. */
interface SentCopies {
  readonly sent: number;
  /** Ended before the other server had received all of it. */
  readonly failed: number;
  /** Requests that were not authentic. */
  readonly refused: number;
}

/** Sends snapshots of pools to other servers of the database. */
export class CopyServer {
  readonly #options: CopyServerOptions;
  readonly #authenticator: PeerAuthenticator<CopyRequest>;
  readonly #counts = { sent: 0, failed: 0 };
  #sending = 0;

  constructor(options: CopyServerOptions) {
    this.#options = options;
    this.#authenticator = new PeerAuthenticator({
      ...options,
      what: "a copy of a pool",
    });
  }

  get figures(): SentCopies {
    return { ...this.#counts, refused: this.#authenticator.refused };
  }

  /**
   * @param sealed as CopyMessages.sealRequest has created it
   * @param address of the client
   * @throws XoError FORBIDDEN, TOO_MANY_REQUESTS; UNSUPPORTED, QUEUE_FULL: another server may have a copy
   */
  async open(sealed: string, address: string): Promise<OpenCopy> {
    const request = await this.#authenticator.authenticate(sealed, address);
    if (request.layout !== snapshotLayout)
      throw unavailable("its snapshots have another format");
    if (this.#sending >= MAX_SENT)
      throw new XoError("QUEUE_FULL", { what: "copies", size: this.#sending });
    this.#sending++;
    let copy: SnapshotCopy | undefined;
    try {
      copy = await this.#options.openSnapshotCopy(request.poolId);
    } finally {
      if (copy === undefined) this.#sending--;
    }
    if (copy === undefined) throw unavailable("it has no complete snapshot");
    return {
      answer: this.#options.messages.sealAnswer(copy, request.answerId),
      bytes: copy.bytes,
      body: this.#send(copy, request),
    };
  }

  #send(
    { body, bytes }: SnapshotCopy,
    { poolId, from }: CopyRequest,
  ): Readable {
    const { clock, logger } = this.#options;
    const transfer = new CopyTransfer({ bytes, clock });
    pipeline(body, transfer, () => undefined);
    transfer.once("close", () => {
      this.#sending--;
      const isComplete = transfer.readableEnded;
      this.#counts[isComplete ? "sent" : "failed"]++;
      logger.debug(
        `${poolId}: a copy of ${bytes} bytes for server ${from} ${isComplete ? "was sent" : "was not received"}`,
      );
    });
    return transfer;
  }
}

function unavailable(reason: string): XoError {
  return new XoError("UNSUPPORTED", { what: "a copy of the pool", reason });
}
