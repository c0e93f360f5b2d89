import type { Readable } from "node:stream";
import { XoError } from "@xo-server/model";
import type { Meter } from "./meter.js";

/**
 * Pipes a request's body into a meter. What breaks off ends the meter with an
 * error; a meter that ends leaves the request as it is, so that it can be answered.
 */
export function feed(body: Readable, meter: Meter): void {
  const stop = () => {
    if (!body.readableEnded)
      meter.destroy(new XoError("ABORTED", { what: "the upload" }));
  };
  body.once("error", stop);
  body.once("close", stop);
  body.once("aborted", stop);
  if (body.destroyed) stop();
  else body.pipe(meter);
}
