import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync, inflateRawSync } from "node:zlib";
import t, { type Test } from "tap";
import {
  readFixture,
  type Fixture,
} from "@xo-server/backup/test/file-system-fixtures.js";
import type { Answer, ApiSession } from "../api-session.js";
import { startControlled } from "../controlled-pools.js";
import { createRepository } from "./repository-folders.js";
import { storeBackup } from "./stored-backups.js";

t.comment("timeout=600000");

const codeOf = ({ error }: Answer) =>
  (error?.data as { code?: string } | undefined)?.code;

/** A backup with a disk of each name, read from the fixtures of the readers. */
async function open(t: Test, names: readonly string[]) {
  const { api, url } = await startControlled(t, { hosts: 1, vms: 1 });
  const repository = await createRepository(t, api);
  const fixtures: Record<string, Fixture> = {};
  const disks: Record<string, Buffer> = {};
  for (const name of names) {
    const fixture = readFixture(name);
    fixtures[name] = fixture;
    disks[name] = await wholeDisk(fixture);
  }
  const vm = { uuid: "00000000-0000-4000-8000-00000000000a", name_label: "db" };
  const backup = await storeBackup(repository, vm, disks);
  const remotes = [repository.id];
  await api.request("backupNg.listVmBackups", { remotes, _forceRefresh: true });
  return { api, url, repository, fixtures, id: `${repository.id}/${backup}` };
}

async function wholeDisk({ disk }: Fixture): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let at = 0; at < disk.size; at += 2 ** 20)
    parts.push(await disk.read(at, Math.min(2 ** 20, disk.size - at)));
  return Buffer.concat(parts);
}

const sha256 = (bytes: Uint8Array) =>
  createHash("sha256").update(bytes).digest("hex");

async function download(
  { api, url }: { readonly api: ApiSession; readonly url: string },
  method: string,
  params: object,
): Promise<Response> {
  const { $getFrom } = (await api.request(method, params)) as {
    $getFrom: string;
  };
  return fetch(url + $getFrom);
}

const bytesOf = async (response: Response) =>
  Buffer.from(await response.arrayBuffer());

t.test("files of a disk of a backup are listed and downloaded", async (t) => {
  const site = await open(t, ["gpt", "ext4"]);
  const { api, fixtures, id } = site;
  const { files } = fixtures["ext4"]!;

  const partitions = await api.request("backup.listPartitions", {
    id,
    disk: "gpt",
  });
  t.match(partitions, [
    { id: "1", name: "EFI system", fileSystem: "vfat" },
    { id: "2", name: "root", fileSystem: "ext4", label: "label" },
  ]);
  const page = (await api.request("backup.listFiles", {
    id,
    disk: "ext4",
    path: "/many",
    after: "file-00007-with-a-long-name.txt",
    limit: 2,
  })) as { entries: { name: string }[] };
  t.match(page, { total: 400, next: "file-00009-with-a-long-name.txt" });
  t.equal(page.entries[0]?.name, "file-00008-with-a-long-name.txt");

  const one = { id, disk: "ext4", paths: ["/big.bin"], format: "file" };
  const response = await download(site, "backup.fetchFiles", one);
  t.equal(
    response.headers.get("content-length"),
    String(files["/big.bin"]?.size),
  );
  t.equal(sha256(await bytesOf(response)), files["/big.bin"]?.sha256);

  const tar = await bytesOf(
    await download(site, "backup.fetchFiles", {
      id,
      disk: "ext4",
      paths: ["/"],
      format: "tgz",
    }),
  );
  const inTar = readTar(gunzipSync(tar));
  for (const [path, { sha256: hash, target }] of Object.entries(files)) {
    const found = inTar.get(path.slice(1));
    if (hash !== undefined) t.equal(found && sha256(found.content), hash, path);
    if (target !== undefined) t.equal(found?.target, target, path);
  }

  const zip = await bytesOf(
    await download(site, "backup.fetchFiles", {
      id,
      disk: "ext4",
      paths: ["/holes.bin", "/folder"],
    }),
  );
  const inZip = readZip(zip);
  t.same([...inZip.keys()].toSorted(), [
    "folder/",
    "folder/sub/",
    "folder/sub/deep.txt",
    "holes.bin",
  ]);
  t.equal(sha256(inZip.get("holes.bin")!), files["/holes.bin"]?.sha256);

  const rest = `/backup-archives/${encodeURIComponent(id)}/disks/ext4`;
  const listed = await api.rest("GET", `${rest}/files?path=/folder`);
  t.match(await listed.json(), { entries: [{ name: "sub", kind: "folder" }] });
  const raw = await api.rest("GET", `${rest}/files.file?paths=/hello.txt`);
  t.equal(await raw.text(), "hello\n");

  const records = await api.request("audit.getRecords", {});
  for (const name of [
    "backup.listPartitions",
    "backup.listFiles",
    "backup.fetchFiles",
  ])
    t.match(JSON.stringify(records), name, `${name} is in the audit log`);
});

t.test("the methods of Xen Orchestra list and download files", async (t) => {
  const site = await open(t, ["mbr", "fat12"]);
  const { api, fixtures, id, repository } = site;
  const remote = repository.id;
  const disk = `${id}/mbr`;
  const partitions = await api.request("backupNg.listPartitions", {
    remote,
    disk,
  });
  t.match(partitions, [
    { id: "1", type: 12 },
    { id: "5", type: 131 },
    { id: "6", size: 4 * 2 ** 20 },
  ]);
  const whole = { remote, disk: `${id}/fat12` };
  t.same(await api.request("backupNg.listPartitions", whole), []);
  const listed = await api.request("backupNg.listFiles", {
    ...whole,
    path: "/",
  });
  t.match(listed, { "folder/": {}, "hello.txt": {} });
  const files = { remote, disk, partition: "6", path: "/sub/" };
  t.same(await api.request("backupNg.listFiles", files), { "deep.txt": {} });
  const response = await download(site, "backupNg.fetchFiles", {
    remote,
    disk,
    partition: "6",
    paths: ["/sub/deep.txt"],
  });
  const tar = readTar(gunzipSync(await bytesOf(response)));
  const { content } = tar.get("deep.txt")!;
  t.equal(sha256(content), fixtures["mbr"]!.files["/sub/deep.txt"]?.sha256);
});

t.test(
  "what does not exist, or cannot be read, is an error of the call",
  async (t) => {
    const { api, id } = await open(t, ["gpt"]);
    const disk = "gpt";
    const code = async (method: string, params: object) =>
      codeOf(await api.call(method, params));
    const partition = "2";
    t.equal(
      await code("backup.listFiles", { id, disk, partition, path: "/no" }),
      "NO_SUCH_FILE",
    );
    t.equal(
      await code("backup.listFiles", { id, disk, partition: "9", path: "/" }),
      "NO_SUCH_FILE",
    );
    t.equal(
      await code("backup.fetchFiles", { id, disk, partition, paths: ["/no"] }),
      "NO_SUCH_FILE",
    );
    t.equal(
      await code("backup.fetchFiles", {
        id,
        disk,
        partition,
        paths: ["/sub"],
        format: "file",
      }),
      "NO_SUCH_FILE",
    );
    t.equal(
      await code("backup.listPartitions", { id, disk: "none" }),
      "BACKUP_REPOSITORY_REFUSED",
    );
  },
);

t.test(
  "a download of a damaged backup does not end as if it were complete",
  async (t) => {
    const { api, url, id, repository } = await open(t, ["ext4"]);
    const params = { id, disk: "ext4", paths: ["/"], format: "tgz" };
    const { $getFrom } = (await api.request("backup.fetchFiles", params)) as {
      $getFrom: string;
    };
    const packs = join(repository.folder, "packs");
    for (const name of await readdir(packs, { recursive: true })) {
      const path = join(packs, name);
      const bytes = await readFile(path).catch(() => undefined);
      if (bytes === undefined) continue;
      // Most chunks: the first ones have the folders.
      bytes.fill(0, Math.floor(bytes.length / 3), Math.floor(bytes.length / 2));
      await writeFile(path, bytes);
    }
    const outcome = await fetch(url + $getFrom).then(
      async (response) => {
        if (!response.ok) return "refused";
        return bytesOf(response).then(
          (bytes) => `${bytes.length} bytes`,
          () => "broken",
        );
      },
      () => "broken",
    );
    t.match(outcome, /^(refused|broken)$/);
  },
);

t.test("files need the right to restore", async (t) => {
  const { api, id } = await open(t, ["gpt"]);
  const read = {
    action: "read",
    resource: "backup-repository",
    effect: "allow",
  };
  const { session } = await api.signUp(t, "reader", {
    privileges: [read as never],
  });
  for (const [method, params] of [
    ["backup.listPartitions", { id, disk: "gpt" }],
    ["backup.listFiles", { id, disk: "gpt", partition: "2" }],
    ["backup.fetchFiles", { id, disk: "gpt", partition: "2", paths: ["/"] }],
  ] as const)
    t.equal(codeOf(await session.call(method, params)), "FORBIDDEN", method);
});

interface TarFile {
  readonly content: Buffer;
  readonly target: string;
}

/** Files of a tar archive, with the names of extended headers. */
function readTar(bytes: Buffer): Map<string, TarFile> {
  const files = new Map<string, TarFile>();
  let extended: Record<string, string> = {};
  for (let at = 0; at + 512 <= bytes.length && bytes[at] !== 0;) {
    const header = bytes.subarray(at, at + 512);
    const text = (start: number, end: number) =>
      header.toString("utf8", start, end).replace(/\0.*$/s, "");
    const size = Number(extended["size"] ?? parseInt(text(124, 136), 8));
    const content = bytes.subarray(at + 512, at + 512 + size);
    at += 512 + Math.ceil(size / 512) * 512;
    if (text(156, 157) === "x") {
      extended = Object.fromEntries(
        content
          .toString()
          .split("\n")
          .map(
            (line) =>
              line.slice(line.indexOf(" ") + 1).split("=") as [string, string],
          ),
      );
      continue;
    }
    const target = extended["linkpath"] ?? text(157, 257);
    files.set(extended["path"] ?? text(0, 100), { content, target });
    extended = {};
  }
  return files;
}

/** Files of a ZIP archive, by its central directory. */
function readZip(bytes: Buffer): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  const end = bytes.length - 22;
  let at = bytes.readUInt32LE(end + 16);
  for (let i = 0; i < bytes.readUInt16LE(end + 10); i++) {
    const nameLength = bytes.readUInt16LE(at + 28);
    const name = bytes.toString("utf8", at + 46, at + 46 + nameLength);
    const local = bytes.readUInt32LE(at + 42);
    const start =
      local +
      30 +
      bytes.readUInt16LE(local + 26) +
      bytes.readUInt16LE(local + 28);
    const stored = bytes.subarray(start, start + bytes.readUInt32LE(at + 20));
    const isDeflated = bytes.readUInt16LE(at + 10) === 8;
    files.set(name, isDeflated ? inflateRawSync(stored) : stored);
    at += 46 + nameLength + bytes.readUInt16LE(at + 30);
  }
  return files;
}
