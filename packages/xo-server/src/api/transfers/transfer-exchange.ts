import { percentEncode } from "../../encoding/percent-encode.js";
import type { Readable } from "node:stream";
import { XoError } from "@xo-server/model";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Continuation, OpenDownload } from "../../transfers/transfer.js";
import type { Offers } from "../../transfers/one-time-path.js";
import type { OneTimePaths } from "../../transfers/one-time-paths.js";

/** Request bodies are passed on as streams, with any content type and without a size limit. */
export function addStreamBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, payload, done) => {
    done(null, payload);
  });
}

/**
 * Redeems the token of a one-time path.
 * @throws XoError NO_SUCH_OBJECT: unknown, used or expired
 */
export async function takeOffer<K extends keyof Offers>(
  paths: OneTimePaths,
  token: string,
  kind: K,
): Promise<Offers[K]> {
  const offer = await paths.take(token, kind);
  if (offer !== undefined) return offer;
  throw new XoError("NO_SUCH_OBJECT", {
    type: "path",
    id: "(used or expired)",
  });
}

/**
 * Position from which a client resumes a download (`Range: bytes=1000-` with
 * `If-Range`). Undefined: the whole file; other ranges may be ignored (RFC 9110,
 * 14.2).
 */
export function readRange({
  headers,
}: Pick<FastifyRequest, "headers">): Continuation | undefined {
  const [, from] = /^bytes=(\d{1,15})-$/.exec(headers.range ?? "") ?? [];
  if (from === undefined) return undefined;
  const etag = headers["if-range"];
  return { from: Number(from), etag: etag === undefined ? etag : String(etag) };
}

/** Sends a download as the body of the response, with back-pressure to the pool. */
export function sendDownload(
  reply: FastifyReply,
  { type, body, fileName, ...download }: OpenDownload,
): FastifyReply {
  reply.type(type).header("cache-control", "no-store");
  describeLength(reply, download);
  if (fileName !== undefined)
    reply.header(
      "content-disposition",
      `attachment; filename*=UTF-8''${percentEncode(fileName)}`,
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
  // Trailers need chunked encoding, which excludes Content-Length (RFC 9112, 6.2).
  if (sha256 !== undefined)
    reply.trailer("repr-digest", async () => toDigest(sha256()));
  else if (length !== undefined) reply.header("content-length", length - from);
}

/** Digest field of RFC 9530. */
function toDigest(sha256: Buffer): string {
  return `sha-256=:${sha256.toString("base64")}:`;
}

/** @throws XoError INVALID_PARAMETERS */
function readDigest(headers: FastifyRequest["headers"]): Buffer | undefined {
  const digest = headers["repr-digest"] ?? headers["content-digest"];
  if (digest === undefined) return undefined;
  const [, base64] =
    /(?:^|,)\s*sha-256=:([A-Za-z\d+/]{43}=):/.exec(String(digest)) ?? [];
  if (base64 !== undefined) return Buffer.from(base64, "base64");
  throw new XoError("INVALID_PARAMETERS", {
    reason: "a digest must be sha-256=:...:, in base64",
  });
}

/** Passes the body to `receive`. After an error the rest of the body is discarded; see unread-body.ts. */
export async function receiveUpload(
  { body, headers, raw }: FastifyRequest,
  receive: Offers["upload"],
): Promise<unknown> {
  const contentLength = headers["content-length"];
  const length =
    contentLength === undefined ? undefined : Number(contentLength);
  const stream = (body as Readable | undefined) ?? raw;
  const sha256 = readDigest(headers);
  return receive({ body: stream, length, sha256 });
}
