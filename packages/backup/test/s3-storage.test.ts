import { createHash } from "node:crypto";
import t from "tap";
import {
  Repository,
  S3Storage,
  collectGarbage,
  verifyRepository,
  writeBackup,
} from "../src/index.js";
import { encodeQuery, signRequest } from "../src/storage/s3-signature.js";
import { listAll } from "../src/storage/storage.js";
import { startFakeS3 } from "./fake-s3-server.js";
import { MemoryDisk, halfRandom } from "./memory-disk.js";
import { seededRandom } from "./random.js";
import { readBackupDisk } from "./repository-content.js";

const MIB = 1024 * 1024;
const fast = { delay: async () => undefined };
const bytesOf = (text: string) => [Buffer.from(text)];

t.test("signatures are those of the examples of Amazon", async (t) => {
  const key = {
    accessKeyId: "AKIAIOSFODNN7EXAMPLE",
    secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    region: "us-east-1",
  };
  const host = "examplebucket.s3.amazonaws.com";
  const bodyDigest = createHash("sha256").digest("hex");
  const sign = (path: string, query: object, more: object) =>
    signRequest(
      {
        method: "GET",
        path,
        query: { ...query },
        headers: { host, ...more },
        bodyDigest,
      },
      key,
      Date.parse("2013-05-24T00:00:00Z"),
    )["authorization"];
  t.match(
    sign("/test.txt", {}, { range: "bytes=0-9" }),
    "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
  );
  t.match(
    sign("/", { "max-keys": "2", prefix: "J" }, {}),
    "Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
  );
  t.equal(encodeQuery({ b: "x y/ü'", a: "" }), "a=&b=x%20y%2F%C3%BC%27");
});

t.test("files are created once, read, listed and removed", async (t) => {
  const fake = await startFakeS3(t);
  const storage = new S3Storage(fake.location, fast);
  const { host } = new URL(fake.location.endpoint);
  t.equal(
    storage.location,
    `s3://${host}/bucket/my%20backups/one?region=local-1&protocol=http`,
  );
  t.equal(await storage.putIfAbsent("log/1", bytesOf("first")), true);
  t.equal(await storage.putIfAbsent("log/1", bytesOf("second")), false);
  t.ok(fake.objects.has("my backups/one/log/1"));
  t.equal((await storage.read("log/1")).toString(), "first");
  const range = (offset: number, length: number) =>
    storage.read("log/1", { offset, length }).then(String);
  t.equal(await range(1, 3), "irs");
  t.equal(await range(3, 100), "st", "shorter where the file ends");
  t.equal(await range(100, 3), "", "behind the end");
  t.equal(await range(1, 0), "");
  await t.rejects(storage.read("log/2"), { code: "missing" });
  t.equal(await storage.size("log/1"), 5);
  t.equal(await storage.size("log/2"), undefined);
  const names = Array.from({ length: 10 }, (_, i) => `packs/a${i}/x`);
  for (const name of names) await storage.putIfAbsent(name, bytesOf(name));
  t.same(
    await listAll(storage, "packs"),
    names.map((name) => ({ name, size: 10 })),
    "over several pages",
  );
  t.same(await listAll(storage, "pack"), []);
  await storage.remove([...names, "packs/nothing"]);
  t.same(await listAll(storage, "packs"), []);
  t.equal((await listAll(storage, "tmp")).length, 0, "no check is left");
  await storage.remove([]);
});

t.test("checks that were interrupted are removed", async (t) => {
  const fake = await startFakeS3(t);
  const storage = new S3Storage({ ...fake.location, prefix: "" }, fast);
  fake.objects.set("tmp/old", Buffer.alloc(1));
  await storage.removeTemporaryFiles(Date.parse("2025-01-01"));
  t.equal(fake.objects.size, 1, "it is too new");
  await storage.removeTemporaryFiles(Date.parse("2027-01-01"));
  t.equal(fake.objects.size, 0);
});

t.test("a store without conditional writes is refused", async (t) => {
  const fake = await startFakeS3(t);
  fake.ignoresConditions = true;
  const storage = new S3Storage(fake.location, fast);
  await t.rejects(storage.putIfAbsent("log/1", bytesOf("x")), {
    code: "unsupported",
    message: /If-None-Match/,
  });
  t.equal(fake.objects.size, 0);
});

t.test("failures that pass are repeated", async (t) => {
  const fake = await startFakeS3(t);
  const storage = new S3Storage(fake.location, fast);
  await storage.putIfAbsent("a", bytesOf("a"));
  const failures = [503, 500, 429, 0];
  fake.fault = (request, response) => {
    const status = failures.shift();
    if (status === undefined) return false;
    if (status === 0) request.socket.destroy();
    else response.writeHead(status).end("<Error><Code>SlowDown</Code></Error>");
    return true;
  };
  t.equal((await storage.read("a")).toString(), "a");
  t.same(failures, []);
});

t.test(
  "an answer that is lost: the file that was created counts",
  async (t) => {
    const fake = await startFakeS3(t);
    const storage = new S3Storage(fake.location, fast);
    await storage.putIfAbsent("log/1", bytesOf("other"));
    let losses = 1;
    fake.losesAnswer = () => losses-- > 0;
    t.equal(await storage.putIfAbsent("log/2", bytesOf("mine")), true);
    t.equal((await storage.read("log/2")).toString(), "mine");
    // The first attempt failed before it had an effect, then another process was faster.
    let faults = 1;
    fake.fault = (request) => {
      if (faults-- <= 0) return false;
      fake.objects.set("my backups/one/log/3", Buffer.from("theirs"));
      request.socket.destroy();
      return true;
    };
    t.equal(await storage.putIfAbsent("log/3", bytesOf("mine")), false);
  },
);

t.test("failures that stay are errors without secrets", async (t) => {
  const fake = await startFakeS3(t);
  const fails = async (storage: S3Storage, code: string, message: RegExp) => {
    const error = (await storage.read("a").then(
      () => t.fail("it succeeds"),
      (error: unknown) => error,
    )) as Error;
    t.match(error, { code, message });
    t.notMatch(String(error.stack), /the secret key|KEYID|wrong key/);
  };
  const wrong = { ...fake.location, secretAccessKey: "wrong key" };
  await fails(
    new S3Storage(wrong, fast),
    "storage-failed",
    /bucket: .* 403, SignatureDoesNotMatch/,
  );
  t.equal(fake.requests.length, 1, "not repeated");
  fake.fault = () => true; // no answer
  await fails(
    new S3Storage(fake.location, { ...fast, stallMs: 20 }),
    "storage-failed",
    /no byte within 20 ms/,
  );
  const nowhere = { ...fake.location, endpoint: "http://127.0.0.1:1" };
  await fails(new S3Storage(nowhere, fast), "storage-failed", /ECONNREFUSED/);
  t.throws(() => new S3Storage({ ...fake.location, bucket: "a/b" }), {
    code: "invalid",
  });
});

t.test(
  "an access key that may not write: the storage is read-only",
  async (t) => {
    const fake = await startFakeS3(t);
    const storage = new S3Storage(fake.location, fast);
    await storage.putIfAbsent("a", [Buffer.from("a")]);
    fake.fault = ({ method }, response) => {
      if (method !== "PUT" && method !== "POST") return false;
      response.statusCode = 403;
      response.end("<Error><Code>AccessDenied</Code></Error>");
      return true;
    };
    const reader = new S3Storage(fake.location, fast);
    t.equal(String(await reader.read("a")), "a");
    const code = "read-only";
    await t.rejects(reader.putIfAbsent("b", [Buffer.from("b")]), { code });
    await t.rejects(reader.remove(["a"]), { code });
  },
);

t.test("a repository in an object store", async (t) => {
  const fake = await startFakeS3(t);
  const storage = new S3Storage(fake.location, fast);
  const options = { passphrase: "p", scryptN: 16, parity: true };
  const repository = await Repository.create(storage, options);
  const disk = new MemoryDisk(40 * MIB);
  disk.write(0, halfRandom(seededRandom(1), 36 * MIB));
  const disks = [{ name: "disk", source: disk }];
  const { id } = await writeBackup(repository, { disks });
  t.ok((await readBackupDisk(repository, id)).equals(disk.bytes));
  t.same((await verifyRepository(repository)).findings, []);
  const reopened = await Repository.open(
    new S3Storage(fake.location, fast),
    options,
  );
  await reopened.removeBackups([id]);
  await collectGarbage(reopened, { graceMs: 0 });
  await collectGarbage(reopened, { graceMs: 0 });
  const packs = [...fake.objects.keys()].filter((key) =>
    key.includes("/packs/"),
  );
  t.same(packs, [], "garbage is deleted");
});

t.test("an object is moved by the store, which does not send it", async (t) => {
  const { location, objects, requests } = await startFakeS3(t);
  const storage = new S3Storage(location, fast);
  const name = "packs/aa/a b";
  await storage.putIfAbsent(name, bytesOf("content"));
  requests.splice(0);
  await storage.move(name, "quarantine/x-packs-aa-a");
  t.notMatch(requests.join("\n"), /GET/);
  t.equal(await storage.size(name), undefined);
  t.equal(String(await storage.read("quarantine/x-packs-aa-a")), "content");
  await t.rejects(storage.move(name, "quarantine/y"), {
    code: "storage-failed",
  });
  t.equal(
    [...objects.keys()].filter((key) => /quarantine/.test(key)).length,
    1,
  );
});

t.test(
  "status 404 of an absent bucket or of a proxy does not mean that objects are missing",
  async (t) => {
    const fake = await startFakeS3(t);
    const storage = new S3Storage(fake.location, fast);
    await t.rejects(storage.read("log/1"), { code: "missing" });
    for (const page of [
      "<Error><Code>NoSuchBucket</Code></Error>",
      "<!DOCTYPE html><title>Not found</title>",
    ]) {
      fake.fault = (_, response) => {
        response.writeHead(404).end(page);
        return true;
      };
      await t.rejects(storage.read("log/1"), { code: "storage-failed" });
    }
  },
);
