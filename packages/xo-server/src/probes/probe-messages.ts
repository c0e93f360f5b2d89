import { PeerMessages, type PeerRequestBase } from "../peers/peer-messages.js";
import type { PublicProbe } from "./public-probe.js";

/** Path of the request to probe a host, which is sealed in its header Authorization. */
export const PROBE_PATH = "/cluster/host-probe";
/** Bytes of a sealed answer: a certificate may have many names. */
export const MAX_PROBE_BYTES = 65_536;

export interface ProbeRequest extends PeerRequestBase {
  /** As the parameter of `server.probe`. */
  readonly host: string;
  /** URL of an HTTP proxy. */
  readonly proxy?: string;
}

/** Requests to probe a host from another server, and their answers. */
export class ProbeMessages extends PeerMessages<ProbeRequest, PublicProbe> {
  constructor(
    store: ConstructorParameters<typeof PeerMessages>[0],
    clock: ConstructorParameters<typeof PeerMessages>[1],
  ) {
    super(store, clock, "probe of a host");
  }
}
