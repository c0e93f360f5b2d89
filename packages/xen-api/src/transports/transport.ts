import type { WireEncoding } from "@xo-server/model";
import type { TransportName } from "../options.js";

/** Encodes calls. Answers are decoded by the decoder. */
export interface Transport {
  readonly name: TransportName;
  readonly path: string;
  readonly contentType: string;
  /** Encoding of the answers. */
  readonly encoding: WireEncoding;
  /**
   * Encodes the body of a request. Integers may be bigint; NaN and infinities
   * are written as XAPI parses them; a Date becomes a datetime of XAPI.
   * @param params positional, the session first
   * @throws XoError INVALID_PARAMETERS
   */
  encode(method: string, params: readonly unknown[]): Uint8Array;
}
