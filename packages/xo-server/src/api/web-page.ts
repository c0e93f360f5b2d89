import fastifyStatic from "@fastify/static";
import type { FastifyInstance } from "fastify";

/** @param webRoot folder of the built page; undefined: it has not been built */
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
    // `x.js.br` or `x.js.gz` where the build has left them and the browser takes them.
    preCompressed: true,
    cacheControl: false,
    setHeaders(reply, path) {
      // Vite puts a digest of the content into the names of assets, and into no other.
      const isNamedByContent = /[\\/]assets[\\/]/.test(path);
      reply.setHeader(
        "cache-control",
        isNamedByContent ? "public, max-age=31536000, immutable" : "no-cache",
      );
    },
  });
}
