import { XoError } from "@xo-server/model";
import type { Decoder } from "./decoder.js";

/** The reference decoder, on the calling thread. */
export function createPlainDecoder(): Decoder {
  throw new XoError("UNSUPPORTED", {
    what: "the plain decoder",
    reason: "being written",
  });
}
