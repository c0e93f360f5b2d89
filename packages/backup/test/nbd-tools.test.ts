import { spawn, spawnSync } from "node:child_process";
import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { randomBytes } from "node:crypto";
import t, { type Test } from "tap";
import { NbdDisk } from "../src/nbd/nbd-disk.js";
import { makeLoopbackCertificate } from "@xo-server/certificate";
import { freePorts } from "./free-ports.js";

/* The NBD servers of Debian; tests are skipped where they are not installed. */

const MIB = 1024 * 1024;
const SIZE = 40 * MIB;
const isInstalled = (name: string) =>
  spawnSync(name, ["--version"]).status === 0;
const skipped = (name: string) =>
  isInstalled(name) ? {} : { skip: `${name} is not installed` };

interface Image {
  readonly folder: string;
  readonly path: string;
  readonly data: { offset: number; bytes: Buffer }[];
}

/** A sparse file with data in two places. */
async function createImage(t: Test): Promise<Image> {
  const folder = await mkdtemp(join(tmpdir(), "xo-backup-nbd-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, "image");
  const data = [3 * MIB, 30 * MIB].map((offset) => ({
    offset,
    bytes: randomBytes(MIB),
  }));
  const file = await open(path, "wx");
  await file.truncate(SIZE);
  for (const { offset, bytes } of data)
    await file.write(bytes, 0, bytes.length, offset);
  await file.close();
  return { folder, path, data };
}

/** Starts a server and opens its export. */
async function openExport(
  t: Test,
  start: (port: number) => [command: string, ...parameters: string[]],
  options: { exportName: string; tls?: object },
): Promise<NbdDisk> {
  const [port = 0] = await freePorts(1);
  const [command, ...parameters] = start(port);
  const server = spawn(command, parameters, { stdio: "ignore" });
  t.teardown(() => server.kill());
  const { exportName, tls } = options;
  for (let attempt = 0; ; attempt++)
    try {
      const disk = await NbdDisk.open({
        servers: [{ address: "127.0.0.1", port, ...(tls && { tls }) }],
        exportName,
        size: SIZE,
      });
      t.teardown(() => disk.close());
      return disk;
    } catch (error) {
      if (attempt === 100) throw error;
      await sleep(50); // the server of another project has no other sign that it listens
    }
}

async function checkContent(
  t: Test,
  disk: NbdDisk,
  { data }: Image,
): Promise<void> {
  const expected = Buffer.alloc(SIZE);
  for (const { offset, bytes } of data) bytes.copy(expected, offset);
  const found = Buffer.alloc(SIZE);
  await Promise.all(
    Array.from({ length: SIZE / MIB }, (_, i) =>
      disk.read(i * MIB, found.subarray(i * MIB, (i + 1) * MIB)),
    ),
  );
  t.ok(found.equals(expected), "same bytes");
}

async function checkSparse(t: Test, disk: NbdDisk): Promise<void> {
  const ranges = await disk.allocated(0, SIZE);
  const size = ranges.reduce((sum, { length }) => sum + length, 0);
  t.ok(size >= 2 * MIB && size < 4 * MIB, `${size} bytes are allocated`);
}

t.test("nbdkit", skipped("nbdkit"), async (t) => {
  const image = await createImage(t);
  const disk = await openExport(
    t,
    (port) => ["nbdkit", "-f", "-r", "-p", `${port}`, "file", image.path],
    { exportName: "" },
  );
  await checkContent(t, disk, image);
  await checkSparse(t, disk);
});

t.test("nbdkit with TLS", skipped("nbdkit"), async (t) => {
  const image = await createImage(t);
  const { key, cert } = makeLoopbackCertificate();
  const folder = join(image.folder, "certificates");
  const { mkdir } = await import("node:fs/promises");
  await mkdir(folder);
  await writeFile(join(folder, "ca-cert.pem"), cert);
  await writeFile(join(folder, "server-cert.pem"), cert);
  await writeFile(join(folder, "server-key.pem"), key);
  const disk = await openExport(
    t,
    (port) => [
      "nbdkit",
      "-f",
      "-r",
      "-p",
      `${port}`,
      "--tls=require",
      `--tls-certificates=${folder}`,
      "file",
      image.path,
    ],
    { exportName: "", tls: { certificates: cert, hostname: "localhost" } },
  );
  await checkContent(t, disk, image);
  await checkSparse(t, disk);
});

t.test("nbdkit with errors and delays", skipped("nbdkit"), async (t) => {
  const image = await createImage(t);
  const disk = await openExport(
    t,
    (port) => [
      "nbdkit",
      "-f",
      "-r",
      "-p",
      `${port}`,
      "--filter=error",
      "--filter=delay",
      "file",
      image.path,
      "error-pread=EIO",
      "error-pread-rate=10%",
      "rdelay=2ms",
    ],
    { exportName: "" },
  );
  await checkContent(t, disk, image);
});

t.test("qemu-nbd", skipped("qemu-nbd"), async (t) => {
  const image = await createImage(t);
  const disk = await openExport(
    t,
    (port) => [
      "qemu-nbd",
      "-r",
      "-t",
      "-e",
      "8",
      "-f",
      "raw",
      "-x",
      "disk",
      "-b",
      "127.0.0.1",
      "-p",
      `${port}`,
      image.path,
    ],
    { exportName: "disk" },
  );
  await checkContent(t, disk, image);
  await checkSparse(t, disk);
  await t.rejects(
    NbdDisk.open({ servers: [], exportName: "" }),
    { code: "invalid" },
    "a list of servers is needed",
  );
});
