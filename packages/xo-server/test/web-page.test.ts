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

  t.test(
    "a file that an update has removed ends the request, not the server",
    async (t) => {
      await rm(join(root, "assets", "old.js"));
      await t.rejects(statusOf("/assets/old.js"));
      t.equal(await statusOf("/"), 200);
    },
  );
});
