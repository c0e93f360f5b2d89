import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { findPostgres } from "@xo-server/store/conformance";
import t, { type Test } from "tap";
import { ApiSession } from "../api-session.js";
import { smallDisks } from "../backup/vm-with-disks.js";
import { StatusPage } from "../status-page.js";
import { BalancedClient } from "./balanced-client.js";
import { CutNetwork } from "./cut-network.js";
import { until } from "./lease-owners.js";
import { PASSWORD, ServerGroup, type GroupMember } from "./server-group.js";

t.comment("timeout=240000");

const bin = findPostgres();
const skip = bin === undefined && "PostgreSQL is not installed";

const MIB = 2 ** 20;

/** Two servers, of which the first one reaches the pool through the second one only. */
async function openGroup(t: Test) {
  const links: CutNetwork[] = [];
  const group = await ServerGroup.open(t, {
    bin: bin!,
    settings: "server: { name: NAME, leaseMs: 3000 }",
    pool: ["--churn", "0"],
    proxyTo: async () => {
      const link = await CutNetwork.open();
      t.teardown(() => link.stop());
      links.push(link);
      return `http://127.0.0.1:${link.port}`;
    },
  });
  const first = await group.start(0);
  const second = await group.start(1);
  for (const { url } of [second, first]) {
    const page = await StatusPage.open(t, url, PASSWORD);
    await page.until(({ pools }) => pools["p"]?.state === "watching");
    if (url === second.url) continue;
    links[0]!.cut();
    await page.until(({ pools }) => pools["p"]?.via === "xo2");
  }
  const client = await BalancedClient.signIn(first.url);
  const list = async (path: string) =>
    (await (await client.fetch(`/rest/v0/${path}`)).json()) as {
      readonly id: string;
    }[];
  return { group, first, second, link: links[0]!, client, list };
}

/** Uploads the first half of a disk. @returns sends the other one, and resolves with the response */
async function uploadHalf(
  { url }: GroupMember,
  { cookie, path }: { readonly cookie: string; readonly path: string },
) {
  const bytes = randomBytes(48 * MIB);
  const upload = request(`${url}/rest/v0${path}`, {
    method: "POST",
    headers: {
      "content-type": "application/octet-stream",
      cookie,
      "content-length": bytes.length,
    },
  });
  // The response has the reason.
  upload.on("error", () => undefined);
  const answered = once(upload, "response");
  // More than the buffers of both connections: the pool has received a part.
  await new Promise((resolve) =>
    upload.write(bytes.subarray(0, bytes.length / 2), resolve),
  );
  return async () => {
    upload.end(bytes.subarray(bytes.length / 2));
    const [response] = (await answered) as [IncomingMessage];
    return { status: response.statusCode, body: await text(response) };
  };
}

t.test(
  "an upload through a server that is killed fails with the reason, and leaves nothing",
  { skip },
  async (t) => {
    const { group, first, second, link, client, list } = await openGroup(t);
    const [sr] = await list("srs?fields=id&filter=SR_type:nfs");
    const disks = () => list("vdis?fields=id&filter=name_label:halved");
    const path = `/srs/${sr!.id}/vdis?raw&name_label=halved`;
    const complete = await uploadHalf(first, { cookie: client.cookie, path });
    t.equal((await disks()).length, 1);

    await second.program.stop("SIGKILL");
    link.repair();
    const { status, body } = await complete();
    t.equal(status, 502, body);
    t.match(body, /connection to \S+ lost/);
    await until(async () => (await disks()).length === 0);
    const tasks = await group.postgres.query(
      "xo",
      "select status from tasks where name like 'Import of halved%'",
    );
    t.same(tasks, [{ status: "failure" }]);
  },
);

/** Requests an export and reads nothing of it. @returns reads it, until its end or why it has none */
async function exportSlowly(
  { url }: GroupMember,
  { cookie, path }: { readonly cookie: string; readonly path: string },
) {
  const sent = request(`${url}/rest/v0${path}`, { headers: { cookie } });
  sent.end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return async () => {
    let bytes = 0;
    try {
      for await (const chunk of response) bytes += (chunk as Buffer).length;
      return { bytes, end: response.complete };
    } catch (error) {
      return { bytes, end: (error as Error).message };
    }
  };
}

t.test(
  "an export whose end is lost with a server that is killed is not reported as complete",
  { skip },
  async (t) => {
    const { group, first, second, client } = await openGroup(t);
    const api = await ApiSession.open(t, second.url);
    const vm = await smallDisks(api, ["system", "data", "more"]);
    for (const vdi of vm.disks)
      await fetch(`${group.pool.url}/sim/write`, {
        method: "POST",
        body: JSON.stringify({
          vdi,
          pattern: "sequential",
          seed: 1,
          bytes: 8 * MIB,
        }),
      });
    const path = `/vms/${vm.id}.xva`;
    const { cookie } = client;
    const whole = await (await exportSlowly(first, { cookie, path }))();
    t.equal(whole.end, true);
    t.ok(whole.bytes > 24 * MIB);

    const read = await exportSlowly(first, { cookie, path });
    // What the client has not read is in the buffers of both servers: the pool has sent everything.
    await until(async () => {
      const tasks = await api.all({ type: "task" });
      const exports = tasks.filter(({ name_label: name }) =>
        String(name).startsWith("Export"),
      );
      return (
        exports.length > 0 &&
        exports.every(({ status }) => status === "success")
      );
    });
    await second.program.stop("SIGKILL");
    const cut = await read();
    t.ok(cut.bytes < whole.bytes, `${cut.bytes} of ${whole.bytes} bytes`);
    t.equal(cut.end, "aborted");
    const tasks = await group.postgres.query(
      "xo",
      "select status from tasks where name like 'Export%' order by status",
    );
    t.same(tasks, [{ status: "failure" }, { status: "success" }]);
  },
);
