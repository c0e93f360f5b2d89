import { once } from "node:events";
import { get, type IncomingHttpHeaders } from "node:http";
import { createServer } from "node:net";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fastify from "fastify";
import t from "tap";
import { addWebPage } from "../src/api/web-page.js";

t.test("files of the page", async (t) => {
  const root = t.testdir();
  await mkdir(join(root, "assets"));
  await writeFile(join(root, "index.html"), "<title>xo-server</title>");
  await writeFile(join(root, "assets", "old.js"), "export {};");
  const app = fastify();
  t.teardown(() => app.close());
  await addWebPage(app, root);
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  const statusOf = async (path: string, headers = {}) =>
    (await fetch(`${url}${path}`, { headers })).status;

  t.equal(await statusOf("/"), 200);
  t.equal(await statusOf("/assets/old.js"), 200);
  t.equal(await statusOf("/assets/none.js"), 404);

  t.test("ranges are ignored, also those that are none", async (t) => {
    for (const range of ["bytes=2-5", "bytes=5-2", "bytes=0-1e99", "bytes=-"])
      t.equal(await statusOf("/", { range }), 200, range);
  });

  t.test("files that an update replaces are served at once", async (t) => {
    await rm(join(root, "assets", "old.js"));
    await writeFile(join(root, "assets", "new.js"), "export const a = 1;");
    await writeFile(join(root, "assets", "new.js.br"), "compressed");
    await writeFile(join(root, "index.html"), "<title>next version</title>");
    t.equal(await statusOf("/assets/old.js"), 404);
    t.equal(await statusOf("/assets/new.js"), 200);
    const index = await fetch(url);
    t.equal(await index.text(), "<title>next version</title>");
    const etag = index.headers.get("etag")!;
    t.equal(await statusOf("/", { "if-none-match": etag }), 304);
    await writeFile(join(root, "index.html"), "<title>one more</title>");
    t.equal(await statusOf("/", { "if-none-match": etag }), 200);
  });

  t.test("compressed files, caching and types", async (t) => {
    // fetch would decompress the body.
    const headersOf = (path: string) =>
      new Promise<IncomingHttpHeaders>((resolve, reject) => {
        const headers = { "accept-encoding": "gzip, br" };
        get(`${url}${path}`, { headers }, (response) => {
          response.resume();
          resolve(response.headers);
        }).once("error", reject);
      });
    t.match(await headersOf("/assets/new.js"), {
      "content-encoding": "br",
      "content-type": "text/javascript",
      "cache-control": "public, max-age=31536000, immutable",
    });
    t.match(await headersOf("/"), { "cache-control": "no-cache" });
  });

  t.test("only files of the folder are served", async (t) => {
    await writeFile(join(root, "..", "secret.txt"), "secret");
    for (const path of ["/..%2fsecret.txt", "/%2e%2e/secret.txt", "/assets"])
      t.equal(await statusOf(path), 404, path);
  });

  t.test(
    "a file that cannot be read ends the request, not the server",
    async (t) => {
      // Like a file that is removed after it was found: it has a size, but cannot be opened.
      const socket = createServer().listen(join(root, "assets", "socket.js"));
      await once(socket, "listening");
      t.teardown(() => socket.close());
      await t.rejects(statusOf("/assets/socket.js"));
      t.equal(await statusOf("/"), 200);
    },
  );
});
