import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import t from "tap";
import { startStorageBench } from "./storage-bench.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 180_000 };
t.comment("timeout=180000");

const MiB = 2 ** 20;

t.test("uploads whose connection to the pool is cut", LIMIT, async (t) => {
  const bench = await startStorageBench(t, "--members", "2");
  const { admin, list, url } = bench;
  const [sr] = await list("srs", "SR_type:nfs");
  const [pool] = await list("pools");
  const [vm] = await list("vms", "power_state:Halted");
  const exported = await admin.fetch(`/vms/${vm!.id}.xva`);
  const xva = Buffer.from(await exported.arrayBuffer());
  const importPath = `/pools/${pool!.id}/vms?sr=${sr!.id}`;

  /** Uploads the first half, changes the coordinator, and returns the response. */
  const upload = async (
    path: string,
    bytes: Buffer,
    isReceived: () => Promise<boolean>,
  ): Promise<{ status: number | undefined; text: string }> => {
    const client = request(`${url}/rest/v0${path}`, {
      method: "POST",
      headers: {
        "content-type": "application/octet-stream",
        cookie: admin.cookie,
        "content-length": bytes.length,
      },
    });
    client.on("error", () => undefined);
    const sent = new Promise((resolve) =>
      client.write(bytes.subarray(0, bytes.length / 2), resolve),
    );
    while (!(await isReceived())) continue;
    await sent;
    const answered = once(client, "response");
    const promoted = await fetch(`${bench.pool.url}/sim/promote`, {
      method: "POST",
      body: "{}",
    });
    t.equal(promoted.status, 200, await promoted.text());
    const [response] = (await answered) as [IncomingMessage];
    let text = "";
    for await (const some of response.setEncoding("utf8")) text += String(some);
    client.destroy();
    return { status: response.statusCode, text };
  };

  for (const { title, folder, path, bytes } of [
    {
      title: "an import of a VM",
      folder: "vms",
      path: importPath,
      bytes: xva,
    },
    {
      title: "an import of a disk",
      folder: "vdis",
      path: `/srs/${sr!.id}/vdis?raw&name_label=cut`,
      // Half of it is more than the buffers of both connections: the upload to the pool has begun.
      bytes: randomBytes(48 * MiB),
    },
  ])
    t.test(`${title} does not blame the file`, async (t) => {
      const ids = async () => (await list(folder)).map(({ id }) => id);
      const before = new Set(await ids());
      const isNew = async () => (await ids()).some((id) => !before.has(id));
      const { status, text } = await upload(path, bytes, isNew);
      t.equal(status, 502, text);
      t.match(text, /connection to \S+ lost/);
      while (await isNew()) continue;
      t.pass("nothing is left of it");
    });

  t.test("a file that lacks its end is refused as such", async (t) => {
    const refused = await admin.fetch(importPath, {
      method: "POST",
      headers: { "content-type": "application/octet-stream" },
      body: xva.subarray(0, xva.length - 2048),
    });
    t.equal(refused.status, 422);
    t.match(await refused.text(), "IMPORT_ERROR_PREMATURE_EOF");
  });
});
