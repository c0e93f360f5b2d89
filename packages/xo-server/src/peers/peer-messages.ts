import { randomUUID } from "node:crypto";
import type { WallClock } from "@xo-server/kit";
import type { Store } from "@xo-server/store";
import { OneTimeSeals } from "../auth/sessions/one-time-seals.js";

/** A request is valid once, for this time, in ms, by the clock of the database. */
const REQUEST_LIFETIME_MS = 10_000;

/** What each request to another server contains. */
export interface PeerRequestBase {
  /** Name of the server that sends the request. */
  readonly from: string;
  /** Instance of the only server that may answer. */
  readonly to: string;
  /** Binds the answer to this request. */
  readonly answerId: string;
}

/**
 * Messages between servers, encrypted and authenticated with the key of the store,
 * which only the servers of its database have. Requests and answers are JSON.
 */
export class PeerMessages<Request extends PeerRequestBase, Answer> {
  readonly #seals: Store["seals"];
  readonly #requests: OneTimeSeals;
  readonly #what: string;

  /** @param what what is requested, such as "copy of a pool"; separates messages of different uses */
  constructor(
    store: Pick<Store, "seals" | "oneTimeUses">,
    clock: Pick<WallClock, "now">,
    what: string,
  ) {
    this.#seals = store.seals;
    this.#requests = new OneTimeSeals({ store, clock });
    this.#what = what;
  }

  /** @returns the text to send, and the `answerId` that it contains */
  sealRequest(request: Omit<Request, "answerId">) {
    const answerId = randomUUID();
    const sealed = this.#requests.seal(
      { ...request, answerId },
      `request for a ${this.#what}`,
      REQUEST_LIFETIME_MS,
    );
    return { answerId, sealed };
  }

  /** @returns undefined: forged, expired, or used before */
  async openRequest(sealed: string): Promise<Request | undefined> {
    const purpose = `request for a ${this.#what}`;
    return (await this.#requests.redeem(sealed, purpose)) as
      | Request
      | undefined;
  }

  sealAnswer(answer: Answer, answerId: string): string {
    return this.#seals.seal(JSON.stringify(answer), this.#answerTo(answerId));
  }

  /** @returns undefined: forged, or the answer to another request */
  openAnswer(sealed: string, answerId: string): Answer | undefined {
    const opened = this.#seals.open(sealed, this.#answerTo(answerId));
    return opened === undefined ? undefined : (JSON.parse(opened) as Answer);
  }

  #answerTo(answerId: string): string {
    return `${this.#what} for ${answerId}`;
  }
}
