import { PeerMessages, type PeerRequestBase } from "../peers/peer-messages.js";

/** Path of the request for a tunnel, which is sealed in its header Authorization. */
export const TUNNEL_PATH = "/cluster/pool-tunnel";
/** Value of the header Upgrade. */
export const TUNNEL_PROTOCOL = "xo-pool-tunnel";
/** Header of the response with the sealed answer. */
export const TUNNEL_HEADER = "xo-pool-tunnel";

export interface TunnelRequest extends PeerRequestBase {
  readonly poolId: string;
  /** URL of a member of the pool. */
  readonly member: string;
}

interface TunnelAnswer {
  /** That of the request. */
  readonly member: string;
}

/** Requests for tunnels to members of a pool, and their answers. */
export class TunnelMessages extends PeerMessages<TunnelRequest, TunnelAnswer> {
  constructor(
    store: ConstructorParameters<typeof PeerMessages>[0],
    clock: ConstructorParameters<typeof PeerMessages>[1],
  ) {
    super(store, clock, "tunnel to a pool");
  }
}
