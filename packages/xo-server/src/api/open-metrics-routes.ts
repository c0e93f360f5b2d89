import { createHash, timingSafeEqual } from "node:crypto";
import { Readable } from "node:stream";
import { XoError } from "@xo-server/model";
import type { FastifyInstance } from "fastify";

export interface OpenMetricsSource {
  /** What readers must show; undefined: there is nothing to read. */
  readonly secret: () => string | undefined;
  readonly read: () => AsyncIterable<Buffer>;
}

const TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/** Figures of the pools, for Prometheus and its like. Whoever shows the secret sees all of them. */
export function addOpenMetricsRoutes(
  app: FastifyInstance,
  { secret, read }: OpenMetricsSource,
): void {
  app.get("/openmetrics/health", async (request) => {
    requireSecret(secret(), request.url);
    return { status: "ok" };
  });
  app.get("/openmetrics/metrics", async (request, reply) => {
    const wanted = requireSecret(secret(), request.url);
    const { authorization = "" } = request.headers;
    const [, shown] = /^Bearer +(.+)$/i.exec(authorization) ?? [];
    if (shown === undefined)
      return reply.code(401).send({ error: "Query is not authenticated" });
    if (!isSame(shown, wanted))
      return reply.code(401).send({
        error: "Authorization header does not match server setting",
      });
    return reply
      .type(TYPE)
      .header("cache-control", "no-store")
      .send(Readable.from(read(), { objectMode: false }));
  });
}

/** @throws XoError NO_SUCH_OBJECT: it is switched off */
function requireSecret(secret: string | undefined, url: string): string {
  if (secret === undefined)
    throw new XoError("NO_SUCH_OBJECT", { type: "page", id: url });
  return secret;
}

function isSame(shown: string, wanted: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(shown), digest(wanted));
}
