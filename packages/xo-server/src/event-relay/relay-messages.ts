import { PeerMessages, type PeerRequestBase } from "../peers/peer-messages.js";

/** Path of the request for the events of a pool, which is sealed in its header Authorization. */
export const EVENTS_PATH = "/cluster/pool-events";
/** Header of the response with the sealed key of its body. */
export const EVENTS_HEADER = "xo-pool-events";

export interface EventsRequest extends PeerRequestBase {
  readonly poolId: string;
  /** Of the tokens; see EventPosition of xen-api. */
  readonly issuer: string;
  /** Class filters of event.from. */
  readonly classes: readonly string[];
  /** Whether frames with digests are understood; absent: by a version before them. */
  readonly hasDigests?: boolean;
}

interface EventsDescription {
  /** Of the frames of the body; Base64. */
  readonly key: string;
  /** Token of event.from: the stream contains all answers after it. */
  readonly token: string;
}

/** Requests for the events of a pool, and their answers. */
export class RelayMessages extends PeerMessages<
  EventsRequest,
  EventsDescription
> {
  constructor(
    store: ConstructorParameters<typeof PeerMessages>[0],
    clock: ConstructorParameters<typeof PeerMessages>[1],
  ) {
    super(store, clock, "stream of the events of a pool");
  }
}
