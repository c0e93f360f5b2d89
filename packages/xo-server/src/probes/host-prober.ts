import { XoError } from "@xo-server/model";
import {
  probeHost,
  type Decoder,
  type HostProbe,
  type ProbeOptions,
} from "@xo-server/xen-api";

/**
 * Maximum number of concurrent probes of all callers, so that the server cannot be
 * used as a port scanner.
 */
const MAX_AT_A_TIME = 4;

type Probe = (options: ProbeOptions) => Promise<HostProbe>;

/** Connects to addresses without signing in, to find out whether XAPI answers there. */
export class HostProber {
  readonly #decoder: Decoder;
  readonly #probe: Probe;
  #running = 0;

  constructor(decoder: Decoder, probe: Probe = probeHost) {
    this.#decoder = decoder;
    this.#probe = probe;
  }

  /** @throws XoError QUEUE_FULL; CONFIG_INVALID: not an address */
  async probe(options: Omit<ProbeOptions, "decoder">): Promise<HostProbe> {
    if (this.#running >= MAX_AT_A_TIME)
      throw new XoError("QUEUE_FULL", { what: "probing", size: this.#running });
    this.#running++;
    try {
      return await this.#probe({ ...options, decoder: this.#decoder });
    } finally {
      this.#running--;
    }
  }
}
