import type { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { XoError } from "@xo-server/model";
import type { Meter } from "./meter.js";

/**
 * Pipes the body of a request into a meter. If the request is aborted, the meter
 * fails; if the meter ends, the request can still be responded to.
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

/**
 * The same for the body of a response. It is destroyed if the meter fails; if
 * the meter ends before it, what follows is discarded.
 */
export function drain(body: Readable, meter: Meter): void {
  body.once("error", (error) => meter.destroy(error));
  body.once("close", () => {
    if (!body.readableEnded)
      meter.destroy(new XoError("ABORTED", { what: "the transfer" }));
  });
  meter.once("close", () => {
    if (meter.readableEnded) body.resume();
    else body.destroy();
  });
  if (body.destroyed) meter.destroy(body.errored ?? undefined);
  else meter.draw(body);
}

/** Time in which a client may send the rest of a refused upload, in ms. */
const REST_WITHIN_MS = 30_000;

/**
 * Reads and drops the rest of an upload: a connection that is closed while the
 * client sends would be reset, and the client would not read its response.
 */
export async function dropRest(body: Readable): Promise<void> {
  if (body.readableEnded || body.destroyed) return;
  body.resume();
  // Best effort: the response to the client is more important.
  await finished(body, {
    writable: false,
    signal: AbortSignal.timeout(REST_WITHIN_MS),
  }).catch(() => undefined);
}
