import { createHash, timingSafeEqual } from "node:crypto";
import { Readable } from "node:stream";
import { XoError } from "@xo-server/model";
import type { FastifyInstance } from "fastify";

export interface OpenMetricsSource {
  /** Bearer token of readers; undefined: the exporter is disabled. */
  readonly secret: () => string | undefined;
  readonly read: () => AsyncIterable<Buffer>;
}

const TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/** OpenMetrics endpoint for Prometheus. Every reader with the secret sees the metrics of all pools. */
export function addOpenMetricsRoutes(
  app: FastifyInstance,
  { secret, read }: OpenMetricsSource,
): void {
  app.get("/openmetrics/health", async (request) => {
    requireSecret(secret(), request.url);
    return { status: "ok" };
  });
  app.get("/openmetrics/metrics", async (request, reply) => {
    const secretNow = requireSecret(secret(), request.url);
    const { authorization = "" } = request.headers;
    const [, shown] = /^Bearer +(.+)$/i.exec(authorization) ?? [];
    if (shown === undefined)
      return reply.code(401).send({ error: "Query is not authenticated" });
    if (!isEqual(shown, secretNow))
      return reply.code(401).send({
        error: "Authorization header does not match server setting",
      });
    return reply
      .type(TYPE)
      .header("cache-control", "no-store")
      .send(Readable.from(read(), { objectMode: false }));
  });
}

/** @throws XoError NO_SUCH_OBJECT: the exporter is disabled */
function requireSecret(secret: string | undefined, url: string): string {
  if (secret === undefined)
    throw new XoError("NO_SUCH_OBJECT", { type: "page", id: url });
  return secret;
}

function isEqual(a: string, b: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
