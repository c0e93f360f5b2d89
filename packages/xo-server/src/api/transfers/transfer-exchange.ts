import type { Readable } from "node:stream";
import { XoError } from "@xo-server/model";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Continuation, OpenDownload } from "../../transfers/transfer.js";
import type { Offers, OneTimePaths } from "../../transfers/one-time-paths.js";

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

/**
 * Where a client wants to go on, by `Range: bytes=1000-` and `If-Range`.
 * Undefined: all is wanted, or it is asked for in a way that may be passed over.
 */
export function readRange({
  headers,
}: Pick<FastifyRequest, "headers">): Continuation | undefined {
  const [, from] = /^bytes=(\d{1,15})-$/.exec(headers.range ?? "") ?? [];
  if (from === undefined) return undefined;
  const etag = headers["if-range"];
  return { from: Number(from), etag: etag === undefined ? etag : String(etag) };
}

export function sendDownload(
  reply: FastifyReply,
  { type, body, fileName, ...download }: OpenDownload,
): FastifyReply {
  reply.type(type).header("cache-control", "no-store");
  describeLength(reply, download);
  if (fileName !== undefined)
    reply.header(
      "content-disposition",
      `attachment; filename*=UTF-8''${encodeURIComponent(fileName)}`,
    );
  return reply.send(body);
}

function describeLength(
  reply: FastifyReply,
  { length, from = 0, etag, sha256 }: Omit<OpenDownload, "type" | "body">,
): void {
  if (etag !== undefined)
    reply.header("etag", etag).header("accept-ranges", "bytes");
  if (from > 0 && length !== undefined)
    reply
      .code(206)
      .header("content-range", `bytes ${from}-${length - 1}/${length}`);
  // What is told after a body goes with chunks, and these with no length (RFC 9112).
  if (sha256 !== undefined)
    reply.trailer("repr-digest", async () => toDigest(sha256()));
  else if (length !== undefined) reply.header("content-length", length - from);
}

/** As RFC 9530 writes it. */
function toDigest(sha256: Buffer): string {
  return `sha-256=:${sha256.toString("base64")}:`;
}

/** @throws XoError INVALID_PARAMETERS */
function readDigest(headers: FastifyRequest["headers"]): Buffer | undefined {
  const told = headers["repr-digest"] ?? headers["content-digest"];
  if (told === undefined) return undefined;
  const [, base64] =
    /(?:^|,)\s*sha-256=:([A-Za-z\d+/]{43}=):/.exec(String(told)) ?? [];
  if (base64 !== undefined) return Buffer.from(base64, "base64");
  throw new XoError("INVALID_PARAMETERS", {
    reason: "a digest must be sha-256=:...:, in base64",
  });
}

/** Of a body that is refused, so much is read for the answer's sake: many clients look for one only when they have sent all. */
const MAX_DRAINED_BYTES = 64 * 2 ** 20;

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
    const sha256 = readDigest(headers);
    return await receive({ body: stream, length, sha256 });
  } catch (error) {
    if (length === undefined || length > MAX_DRAINED_BYTES)
      reply.header("connection", "close");
    // Node does so itself only where nobody has begun to read.
    else stream.unpipe().resume();
    throw error;
  }
}
