import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { findPostgres } from "@xo-server/store/conformance";
import t, { type Test } from "tap";
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
