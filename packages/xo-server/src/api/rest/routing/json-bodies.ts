import { isUtf8 } from "node:buffer";
import { XoError } from "@xo-server/model";
import { errorCodes, type FastifyInstance } from "fastify";
import { isDeeperThan } from "../../http/json-depth.js";
import type { LimitHits } from "../../../limits/limit-hits.js";

interface JsonBodiesOptions {
  readonly maxDepth: number;
  readonly hits: LimitHits;
}

/**
 * Accepts JSON bodies only, so that a form of another site is not a valid request.
 * An empty body counts as no body with any content type: aiohttp sends
 * `application/octet-stream` without a body.
 */
export function addJsonBodies(
  app: FastifyInstance,
  { maxDepth, hits }: JsonBodiesOptions,
): void {
  app.removeContentTypeParser(["application/json", "text/plain"]);
  app.addContentTypeParser(
    "application/json",
    { parseAs: "buffer" },
    (_request, body, done) => {
      const bytes = body as Buffer;
      // Decoded, invalid bytes would be stored as replacement characters.
      if (!isUtf8(bytes)) {
        done(new XoError("PARSE_ERROR", { reason: "the body is not UTF-8" }));
        return;
      }
      const text = bytes.toString();
      if (isDeeperThan(text, maxDepth)) {
        hits.count("depth");
        const reason = `the body is nested deeper than ${maxDepth} levels`;
        done(new XoError("INVALID_REQUEST", { reason }));
        return;
      }
      try {
        done(null, text === "" ? undefined : JSON.parse(text));
      } catch {
        // The message of the parser would quote the body.
        done(new XoError("PARSE_ERROR", { reason: "the body" }));
      }
    },
  );
  app.addContentTypeParser("*", ({ headers }, _payload, done) => {
    if (headers["content-length"] === "0") done(null, undefined);
    else
      done(
        new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE(headers["content-type"]),
      );
  });
}
