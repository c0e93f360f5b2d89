import type { ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import sirv, { type RequestHandler } from "sirv";

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
  const serve = createFileServer(webRoot);
  app.get("/*", (request, reply) => {
    // sirv writes to Node's response, to which Fastify has not copied its headers yet.
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) reply.raw.setHeader(name, value);
    // Sirv fails on ranges such as 5-2. Files of the page are small: a server may ignore ranges (RFC 9110, 14.2).
    delete request.raw.headers.range;
    endIfUnreadable(reply.raw);
    let isFound = true;
    serve(request.raw, reply.raw, () => {
      isFound = false;
    });
    if (isFound) reply.hijack();
    else reply.callNotFound();
  });
}

/**
 * Closes the connection if the file of a response cannot be read. Sirv has no
 * listener for such errors, so that a file that an update removes meanwhile, or a
 * lack of file descriptors, would end the process. The headers are written already.
 */
function endIfUnreadable(response: ServerResponse): void {
  response.once("pipe", (file: Readable) => {
    file.once("error", (error) => response.destroy(error));
  });
}

function createFileServer(webRoot: string): RequestHandler {
  return sirv(webRoot, {
    // Without it, sirv lists all files once: after a package upgrade, the running server would
    // not serve the new files, and send new contents with the headers of the old ones.
    dev: true,
    // Serves `x.js.br` or `x.js.gz` of the build if the browser accepts the encoding.
    brotli: true,
    gzip: true,
    etag: true,
    setHeaders(response, path) {
      // Only the names of assets contain a hash of their content (Vite).
      response.setHeader(
        "cache-control",
        path.startsWith("/assets/")
          ? "public, max-age=31536000, immutable"
          : "no-cache",
      );
    },
  });
}
