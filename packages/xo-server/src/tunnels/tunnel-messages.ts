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
  /** Whether the tunnel may be a FramedStream. Servers of version 0.3.0 do not know it. */
  readonly isFramed?: boolean;
}

interface TunnelAnswer {
  /** That of the request. */
  readonly member: string;
  /** Whether the tunnel is a FramedStream; absent: a server of version 0.3.0, the end of whose process looks as that of the member. */
  readonly isFramed?: boolean;
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
