import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import t from "tap";
import { startConfiguredBench } from "./storage-bench.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 180_000 };
t.comment("timeout=180000");

const MiB = 2 ** 20;
const config = 'imports: { networks: ["127.0.0.1"] }\n';

t.test("administrators import files from a URL", LIMIT, async (t) => {
  const { admin, addUser, list } = await startConfiguredBench(t, config);
  const [sr] = await list("srs", "SR_type:nfs");
  const content = randomBytes(6 * MiB);
  let xva = Buffer.alloc(0);
  const requests: string[] = [];
  const files = createServer(({ url = "" }, response) => {
    requests.push(url);
    if (url === "/disk.raw?key=top-secret") response.end(content);
    else if (url === "/vm.xva") response.end(xva);
    else if (url === "/cut") {
      response.writeHead(200, { "content-length": 6 * MiB });
      response.write(content.subarray(0, MiB), () => response.destroy());
    } else response.writeHead(404).end();
  });
  files.listen(0, "127.0.0.1");
  await once(files, "listening");
  t.teardown(() => files.close());
  const { port } = files.address() as AddressInfo;
  const urlOf = (path: string) => `http://127.0.0.1:${port}${path}`;
  const disk = { name: "fetched", sr: sr!.id, type: "raw" };

  t.test("a disk has the contents of the file", async (t) => {
    const url = urlOf("/disk.raw?key=top-secret");
    const id = await admin.request<string>("disk.import", { ...disk, url });
    const read = await admin.fetch(`/vdis/${id}.raw`);
    t.ok(Buffer.from(await read.arrayBuffer()).equals(content));
  });

  t.test("the secrets of the URL are in no task and no log", async (t) => {
    const tasks = await list("tasks", '"Import of fetched"');
    t.match(tasks, [{ status: "success" }]);
    const log = await admin.request("audit.getRecords");
    t.notMatch(JSON.stringify([tasks, log]), /top-secret/);
    t.match(JSON.stringify(log), /disk\.import/);
  });

  t.test("a VM is imported from an XVA", async (t) => {
    const [vm] = await list("vms", "power_state:Halted");
    const answer = await admin.fetch(`/vms/${vm!.id}.xva`);
    xva = Buffer.from(await answer.arrayBuffer());
    const params = { sr: sr!.id, url: urlOf("/vm.xva") };
    const id = await admin.request<string>("vm.import", params);
    t.match(await list("vms", `id:${id}`), [
      { name_label: vm!["name_label"], id },
    ]);
  });

  t.test("a file that ends too early leaves no disk", async (t) => {
    const params = { ...disk, name: "cut", url: urlOf("/cut") };
    t.ok((await admin.call("disk.import", params)).error);
    t.same(await list("vdis", "name_label:cut"), []);
  });

  t.test("a missing file is an error that names the server", async (t) => {
    const url = urlOf("/absent?key=top-secret");
    const { error } = await admin.call("disk.import", { ...disk, url });
    t.match(error, { code: 9, message: /127\.0\.0\.1:\d+ .*status 404/ });
    t.notMatch(JSON.stringify(error), /top-secret/);
  });

  t.test("other addresses and other users are refused", async (t) => {
    const before = requests.length;
    const url = `http://[::1]:${port}/disk.raw`;
    const { error } = await admin.call("disk.import", { ...disk, url });
    t.match(error, { code: 9, message: /its address is private/ });
    const ann = await addUser("ann", { [sr!.id]: "admin" });
    const params = { ...disk, url: urlOf("/disk.raw?key=top-secret") };
    t.match(await ann.call("disk.import", params), { error: { code: 2 } });
    t.equal(requests.length, before, "no request was sent");
    t.ok((await ann.call("disk.import", disk)).result, "an upload is allowed");
  });
});
