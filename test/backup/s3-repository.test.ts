import {
  startFakeS3,
  type FakeS3,
} from "@xo-server/backup/test/fake-s3-server.js";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { connect, type AddressInfo } from "node:net";
import { join } from "node:path";
import { createServer } from "node:tls";
import { makeSelfSigned } from "@xo-server/certificate";
import t, { type Test } from "tap";
import type { Answer, ApiSession } from "../api-session.js";
import { startControlled } from "../controlled-pools.js";
import { PASSPHRASE } from "./repository-folders.js";

t.comment("timeout=300000");

const SECRET = "the secret key";
const ENCODED = "the%20secret%20key";

interface Shown {
  readonly id: string;
  readonly url: string;
  readonly error?: { readonly code: string; readonly message: string };
}

const codeOf = ({ error }: Answer) =>
  (error?.data as { code?: string } | undefined)?.code;

const hostOf = ({ location }: FakeS3) =>
  location.endpoint.slice("http://".length);

const create = (api: ApiSession, url: string) =>
  api.call("remote.create", {
    name: "store",
    url,
    passphrase: PASSPHRASE,
    parity: false,
  });

/** Everything that clients can read, and the files of the database. */
async function everything(t: Test, api: ApiSession): Promise<string> {
  const data = join(t.testdirName, "data");
  const files = await readdir(data);
  const stored = await Promise.all(
    files.map((file) => readFile(join(data, file), "latin1").catch(() => "")),
  );
  const answers = [
    await api.request("remote.getAll"),
    await api.request("audit.getRecords", {}),
    await (await api.rest("GET", "/tasks?fields=*")).text(),
  ];
  return JSON.stringify(answers) + stored.join("");
}

t.test("a repository in an object store is used by its URL", async (t) => {
  const { api } = await startControlled(t);
  const s3 = await startFakeS3(t);
  const host = hostOf(s3);
  const answer = await create(
    api,
    `s3://KEYID:${ENCODED}@${host}/bucket/my%20backups/?region=local-1&path_style=true&protocol=http`,
  );
  t.equal(answer.error, undefined);
  const { id, url } = answer.result as Shown;
  t.equal(url, `s3+http://KEYID@${host}/bucket/my%20backups#local-1`);
  t.ok(s3.objects.has("my backups/repository.json"), "it is in the folder");
  t.match(await api.request("remote.test", { id }), { success: true });
  const health = await api.rest("GET", `/backup-repositories/${id}/health`);
  t.same(await health.json(), { success: true });
  const read = await everything(t, api);
  t.match(read, /s3:\/\/KEYID:[^"]*remote\.create|remote\.create[^}]*KEYID:/);
  t.notMatch(read, new RegExp(`${SECRET}|${ENCODED}|${PASSPHRASE}`));

  await api.request("remote.delete", { id });
  const again = await api.rest("POST", "/backup-repositories", {
    name: "again",
    url: `s3+http://KEYID:${ENCODED}@${host}/bucket/my%20backups?useVirtualHostedStyle=false&allowUnauthorized=false&encryptionKey=%22${encodeURIComponent(PASSPHRASE)}%22#local-1`,
  });
  t.equal(again.status, 201, "the form of Xen Orchestra");
  t.match(await again.json(), { url });
});

t.test("a stored key is used for its own bucket only", async (t) => {
  const { api } = await startControlled(t);
  const s3 = await startFakeS3(t);
  const other = await startFakeS3(t);
  const [host, otherHost] = [hostOf(s3), hostOf(other)];
  const { result } = await create(
    api,
    `s3+http://KEYID:${ENCODED}@${host}/bucket/one#local-1`,
  );
  const { id } = result as Shown;
  const set = async (url: string) =>
    codeOf(await api.call("remote.set", { id, url }));
  for (const place of [`${otherHost}/bucket`, `${host}/bucket2`])
    t.equal(
      await set(`s3+http://KEYID@${place}/one#local-1`),
      "INVALID_PARAMETERS",
      place,
    );
  t.equal(
    await set(`s3+http://OTHER@${host}/bucket/one#local-1`),
    "INVALID_PARAMETERS",
    "another account",
  );
  t.same(other.requests, [], "nothing was sent there");
  t.equal(
    await set(`s3+http://KEYID:wrong@${host}/bucket/one#local-1`),
    "BACKUP_REPOSITORY_UNREACHABLE",
  );
  t.match(await api.request("remote.test", { id }), { success: true });

  for (const [name, bytes] of s3.objects)
    s3.objects.set(name.replace(/^one\//, "two/"), bytes);
  const path = `/backup-repositories/${id}`;
  const url = `s3+http://${host}/bucket/two#local-1`;
  t.equal((await api.rest("PATCH", path, { url })).status, 204);
  t.match(await api.request("remote.get", { id }), {
    url: `s3+http://KEYID@${host}/bucket/two#local-1`,
  });
  for (const [name, bytes] of s3.objects) other.objects.set(name, bytes);
  const moved = `s3+http://KEYID:${ENCODED}@${otherHost}/bucket/two#local-1`;
  await api.request("remote.set", { id, url: moved });
  t.match(await api.request("remote.test", { id }), { success: true });
  t.not(other.requests.length, 0);
});

t.test("URLs that are wrong are refused without their keys", async (t) => {
  const { api } = await startControlled(t);
  const key = "s3://KEYID:hidden";
  for (const [url, reason] of [
    [`${key}/more@localhost/bucket`, "percent-encoded"],
    [`${key}@localhost/`, "the bucket"],
    [`${key}@localhost/b`, "the bucket"],
    [`${key}%E4@localhost/bucket`, "the secret key is not"],
    [`${key}@localhost/bucket?regoin=x`, "did you mean region?"],
    [`${key}@localhost/bucket?path_style=yes`, "path_style: only"],
    [`${key}@localhost/bucket?protocol=ftp`, "protocol: only"],
    [`${key}@localhost/bucket?fingerprint=ab`, "fingerprint: only"],
    [`${key}@localhost/bucket?protocol=http&allowUnauthorized=true`, "need"],
    [`${key}@localhost/bucket/a%2F..%2Fb`, "the prefix"],
    [`${key}@localhost/bucket#{"useVirtualHostedStyle":1}`, "only true"],
    [`${key}@localhost/bucket#{"encryptionKey":"a, hidden","x":1}`, "option x"],
    ["s3://KEYID@localhost/bucket", "the secret key is missing"],
    ["s3://:hidden@localhost/bucket", "the access key"],
    ["s3:\n//KEYID:hidden@localhost/bucket", ""],
  ] as const) {
    const answer = await create(api, url);
    const text = JSON.stringify(answer.error);
    t.equal(answer.error?.code, 10, url);
    t.ok(text.includes(reason), text);
    t.notMatch(text, /hidden/);
  }
  t.notMatch(await everything(t, api), /hidden/);
  const body = { name: "x", url: "0" };
  const answer = await api.rest("POST", "/backup-repositories", body);
  t.equal(answer.status, 422);
  t.match(await answer.json(), { error: { "body.url": {} } });
});

t.test("a pinned certificate is the only one that is accepted", async (t) => {
  const { api } = await startControlled(t);
  const s3 = await startFakeS3(t);
  const { key, cert } = makeSelfSigned({
    commonName: "localhost",
    names: ["localhost"],
  });
  const { port } = new URL(s3.location.endpoint);
  const proxy = createServer({ key, cert }, (client) => {
    const server = connect(Number(port), "127.0.0.1");
    client.pipe(server).pipe(client);
    client.on("error", () => server.destroy());
    server.on("error", () => client.destroy());
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  t.teardown(() => proxy.close());
  const host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const base = `s3://KEYID:${ENCODED}@${host}/bucket/tls?region=local-1`;
  for (const url of [base, `${base}&fingerprint=${"0".repeat(64)}`]) {
    const answer = await create(api, url);
    t.equal(codeOf(answer), "BACKUP_REPOSITORY_UNREACHABLE");
    t.match(answer.error?.message, /certificate/);
  }
  t.same(s3.requests, [], "nothing was sent");
  const { fingerprint256 } = new X509Certificate(cert);
  const answer = await create(api, `${base}&fingerprint=${fingerprint256}`);
  const bare = fingerprint256.replaceAll(":", "").toLowerCase();
  const url = `s3://KEYID@${host}/bucket/tls?fingerprint=%22${bare}%22#local-1`;
  t.match(answer.result, { url });
  const { id } = answer.result as Shown;
  t.match(await api.request("remote.test", { id }), { success: true });
});
