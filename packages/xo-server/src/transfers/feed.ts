import type { Readable } from "node:stream";
import { XoError } from "@xo-server/model";
import type { Meter } from "./meter.js";

/**
 * Has a meter draw a request's body. What breaks off ends the meter with an
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
  else meter.draw(body);
}

/** The same with an answer's body, that nobody wants any more when the meter has ended. */
export function drain(body: Readable, meter: Meter): void {
  body.once("error", (error) => meter.destroy(error));
  body.once("close", () => {
    if (!body.readableEnded)
      meter.destroy(new XoError("ABORTED", { what: "the transfer" }));
  });
  meter.once("close", () => body.destroy());
  if (body.destroyed) meter.destroy(body.errored ?? undefined);
  else meter.draw(body);
}
