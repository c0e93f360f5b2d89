import type { WireEncoding } from "@xo-server/model";
import type { TransportName } from "../options.js";

/** One way to write a call. What comes back is read by the decoder. */
export interface Transport {
  readonly name: TransportName;
  readonly path: string;
  readonly contentType: string;
  /** How the answer is to be read. */
  readonly encoding: WireEncoding;
  /**
   * The body of a request. Integers may be bigint; NaN and infinities are
   * written the way XAPI reads them; a Date becomes XAPI's datetime.
   * @param params session first, by position
   * @throws XoError INVALID_PARAMETERS
   */
  encode(method: string, params: readonly unknown[]): Uint8Array;
}
