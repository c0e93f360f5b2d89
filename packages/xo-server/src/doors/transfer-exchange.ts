import type { Readable } from "node:stream";
import { XoError } from "@xo-server/model";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { OpenDownload } from "../transfers/transfer.js";
import type { Offers, OneTimePaths } from "./one-time-paths.js";

/** Bodies are streams here, whatever they say that they are; none is parsed, none is limited. */
export function addStreamBodies(door: FastifyInstance): void {
  door.removeAllContentTypeParsers();
  door.addContentTypeParser("*", (_request, payload, done) => {
    done(null, payload);
  });
}

/** @throws XoError NO_SUCH_OBJECT: there is none such any more */
export function takeOffer<K extends keyof Offers>(
  paths: OneTimePaths,
  token: string,
  kind: K,
): Offers[K] {
  const offer = paths.take(token, kind);
  if (offer !== undefined) return offer;
  throw new XoError("NO_SUCH_OBJECT", {
    type: "path",
    id: "(used or expired)",
  });
}

export function sendDownload(
  reply: FastifyReply,
  { type, body, length, fileName }: OpenDownload,
): FastifyReply {
  reply.type(type).header("cache-control", "no-store");
  if (length !== undefined) reply.header("content-length", length);
  if (fileName !== undefined)
    reply.header(
      "content-disposition",
      `attachment; filename*=UTF-8''${encodeURIComponent(fileName)}`,
    );
  return reply.send(body);
}

/** Of a body that is refused, so much is read for the answer's sake: many clients look for one only when they have sent all. */
const MOST_DRAINED_BYTES = 64 * 2 ** 20;

/** A body that is refused is answered at once, and what is left of a large one is not read. */
export async function receiveUpload(
  { body, headers, raw }: FastifyRequest,
  reply: FastifyReply,
  receive: Offers["upload"],
): Promise<unknown> {
  const told = headers["content-length"];
  const length = told === undefined ? undefined : Number(told);
  const stream = (body as Readable | undefined) ?? raw;
  try {
    return await receive({
      body: stream,
      length,
    });
  } catch (error) {
    if (length === undefined || length > MOST_DRAINED_BYTES)
      reply.header("connection", "close");
    // Node does so itself only where nobody has begun to read.
    else stream.unpipe().resume();
    throw error;
  }
}
