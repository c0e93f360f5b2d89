import type { WallClock } from "@xo-server/kit";
import type { SnapshotCopy } from "@xo-server/inventory";
import type { Store } from "@xo-server/store";
import { PeerMessages, type PeerRequestBase } from "../peers/peer-messages.js";

/** Path of the request for a copy, which is sealed in its header Authorization. */
export const COPY_PATH = "/cluster/pool-copy";
/** Header of the response with the sealed description of the copy. */
export const COPY_HEADER = "xo-pool-copy";

export interface CopyRequest extends PeerRequestBase {
  readonly poolId: string;
  /** `snapshotLayout` of the server that sends the request. */
  readonly layout: string;
}

/** What is known of a copy before its bytes are received. */
type CopyDescription = Omit<SnapshotCopy, "body">;

/** A description as JSON; the key in Base64. */
type SealedDescription = Omit<CopyDescription, "key"> & {
  readonly key: string;
};

/** Requests for copies of pools, and their answers. */
export class CopyMessages {
  readonly #messages: PeerMessages<CopyRequest, SealedDescription>;

  constructor(
    store: Pick<Store, "seals" | "oneTimeUses">,
    clock: Pick<WallClock, "now">,
  ) {
    this.#messages = new PeerMessages(store, clock, "copy of a pool");
  }

  /** @returns the text to send, and the `answerId` that it contains */
  sealRequest(request: Omit<CopyRequest, "answerId">) {
    return this.#messages.sealRequest(request);
  }

  /** @returns undefined: forged, expired, or used before */
  openRequest(sealed: string): Promise<CopyRequest | undefined> {
    return this.#messages.openRequest(sealed);
  }

  sealAnswer(
    { bytes, key, objects, digest }: CopyDescription,
    answerId: string,
  ): string {
    const text = Buffer.from(key).toString("base64");
    return this.#messages.sealAnswer(
      { bytes, objects, digest, key: text },
      answerId,
    );
  }

  /** @returns undefined: forged, or the answer to another request */
  openAnswer(sealed: string, answerId: string): CopyDescription | undefined {
    const opened = this.#messages.openAnswer(sealed, answerId);
    return opened && { ...opened, key: Buffer.from(opened.key, "base64") };
  }
}
