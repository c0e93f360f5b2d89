import { XoError } from "@xo-server/model";
import type { FastifyInstance } from "fastify";
import { isDeeperThan } from "../../http/json-depth.js";
import type { LimitHits } from "../../../limits/limit-hits.js";

export interface JsonBodiesOptions {
  readonly maxDepth: number;
  readonly hits: LimitHits;
}

/** JSON and nothing else, so that no form of another site can be a request. Some clients say that a body is JSON and send none. */
export function addJsonBodies(
  door: FastifyInstance,
  { maxDepth, hits }: JsonBodiesOptions,
): void {
  door.removeContentTypeParser(["application/json", "text/plain"]);
  door.addContentTypeParser(
    "application/json",
    { parseAs: "string" },
    (_request, body, done) => {
      const text = body as string;
      if (isDeeperThan(text, maxDepth)) {
        hits.count("depth");
        const reason = `the body is nested deeper than ${maxDepth} levels`;
        done(new XoError("INVALID_REQUEST", { reason }));
        return;
      }
      try {
        done(null, text === "" ? undefined : JSON.parse(text));
      } catch {
        done(new XoError("PARSE_ERROR", { reason: "the body" }));
      }
    },
  );
}
