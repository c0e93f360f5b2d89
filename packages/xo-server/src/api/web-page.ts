import fastifyStatic from "@fastify/static";
import type { FastifyInstance } from "fastify";

/** @param webRoot folder of the built web page; undefined: not built */
export async function addWebPage(
  app: FastifyInstance,
  webRoot: string | undefined,
): Promise<void> {
  if (webRoot === undefined) {
    app.get("/", async (_request, reply) =>
      reply
        .code(503)
        .type("text/plain; charset=utf-8")
        .send("The web page has not been built yet: npm run build\n"),
    );
    return;
  }
  await app.register(fastifyStatic, {
    root: webRoot,
    // Serves `x.js.br` or `x.js.gz` of the build if the browser accepts the encoding.
    preCompressed: true,
    cacheControl: false,
    setHeaders(reply, path) {
      // Only the names of assets contain a hash of their content (Vite).
      const hasHashedName = /[\\/]assets[\\/]/.test(path);
      reply.setHeader(
        "cache-control",
        hasHashedName ? "public, max-age=31536000, immutable" : "no-cache",
      );
    },
  });
}
