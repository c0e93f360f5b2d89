import { randomUUID } from "node:crypto";
import type { WallClock } from "@xo-server/kit";
import type { SnapshotCopy } from "@xo-server/inventory";
import type { Store } from "@xo-server/store";
import { OneTimeSeals } from "../auth/one-time-seals.js";

/** Path of the request for a copy, which is sealed in its header Authorization. */
export const COPY_PATH = "/cluster/pool-copy";
/** Header of the response with the sealed description of the copy. */
export const COPY_HEADER = "xo-pool-copy";

/** A request is valid once, for this time, in ms, by the clock of the database. */
const REQUEST_LIFETIME_MS = 10_000;
const REQUEST = "request for a copy of a pool";

export interface CopyRequest {
  readonly poolId: string;
  /** `snapshotLayout` of the server that asks. */
  readonly layout: string;
  /** Name of the server that asks. */
  readonly from: string;
  /** Instance of the only server that may answer. */
  readonly to: string;
  /** Binds the answer to this request. */
  readonly answerId: string;
}

/** What is known of a copy before its bytes are received. */
export type CopyDescription = Omit<SnapshotCopy, "body">;

/**
 * Messages between servers, encrypted and authenticated with the key of the store,
 * which only the servers of its database have.
 */
export class CopyMessages {
  readonly #seals: Store["seals"];
  readonly #requests: OneTimeSeals;

  constructor(
    store: Pick<Store, "seals" | "oneTimeUses">,
    clock: Pick<WallClock, "now">,
  ) {
    this.#seals = store.seals;
    this.#requests = new OneTimeSeals({ store, clock });
  }

  /** @returns the request, with its `answerId`, and the text to send */
  sealRequest(request: Omit<CopyRequest, "answerId">) {
    const answerId = randomUUID();
    const sealed = this.#requests.seal(
      { ...request, answerId } satisfies CopyRequest,
      REQUEST,
      REQUEST_LIFETIME_MS,
    );
    return { answerId, sealed };
  }

  /** @returns undefined: forged, expired, or used before */
  async openRequest(sealed: string): Promise<CopyRequest | undefined> {
    const opened = await this.#requests.redeem(sealed, REQUEST);
    return opened as CopyRequest | undefined;
  }

  sealAnswer(
    { bytes, key, objects, digest }: CopyDescription,
    answerId: string,
  ): string {
    const text = Buffer.from(key).toString("base64");
    return this.#seals.seal(
      JSON.stringify({ bytes, objects, digest, key: text }),
      answerTo(answerId),
    );
  }

  /** @returns undefined: forged, or the answer to another request */
  openAnswer(sealed: string, answerId: string): CopyDescription | undefined {
    const opened = this.#seals.open(sealed, answerTo(answerId));
    if (opened === undefined) return undefined;
    const { key, ...rest } = JSON.parse(opened) as Omit<
      CopyDescription,
      "key"
    > & { readonly key: string };
    return { ...rest, key: Buffer.from(key, "base64") };
  }
}

function answerTo(answerId: string): string {
  return `copy of a pool for ${answerId}`;
}
