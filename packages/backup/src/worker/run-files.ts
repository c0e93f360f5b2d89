import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { tarArchive } from "../files/archive/tar-archive.js";
import { walkFiles } from "../files/archive/walk-files.js";
import { zipArchive } from "../files/archive/zip-archive.js";
import { BackupDisk } from "../files/backup-disk.js";
import { findFile } from "../files/file-path.js";
import { listFolder } from "../files/list-folder.js";
import { begun } from "../files/model/begun-content.js";
import { FileSystemError } from "../files/model/file-system-error.js";
import type { FileNode, FileSystem } from "../files/model/file-system.js";
import { openFileSystem } from "../files/open-file-system.js";
import { problemOf } from "../files/problem-of.js";
import {
  findVolume,
  readVolumes,
  type Volume,
} from "../files/volumes/volume.js";
import { DiskReader } from "../read/disk-reader.js";
import type { Repository } from "../repository/repository.js";
import { openOutput } from "./open-output.js";
import type { OrderContext } from "./order-context.js";
import type {
  FetchFilesResult,
  FindFilesResult,
  ListedVolume,
  ListFilesResult,
  ListVolumesResult,
} from "./order-results.js";
import type {
  FetchFilesOperation,
  FindFilesOperation,
  ListFilesOperation,
  ListVolumesOperation,
} from "./work-order.js";

/** As zlib says. */
const GZIP_LEVEL = 4;

/** @throws RepositoryError, FileSystemError */
export async function listVolumes(
  repository: Repository,
  operation: ListVolumesOperation,
): Promise<Omit<ListVolumesResult, "anchor">> {
  const volumes: ListedVolume[] = [];
  for (const volume of await volumesOf(repository, operation))
    volumes.push(await describe(volume));
  return { volumes };
}

/** A volume that cannot be read does not hide the others. */
async function describe(volume: Volume): Promise<ListedVolume> {
  const { id, name, start, size, partitionType, content } = volume;
  const known = { id, name, start, size, partitionType };
  try {
    const { type, label } = await openFileSystem(volume);
    return { ...known, content: type, label, problem: undefined };
  } catch (error) {
    const problem = problemOf(error);
    if (problem === undefined) throw error;
    return { ...known, content, label: "", problem };
  }
}

/** @throws RepositoryError, FileSystemError */
export async function listFiles(
  repository: Repository,
  { path, after, limit, ...volume }: ListFilesOperation,
): Promise<Omit<ListFilesResult, "anchor">> {
  const fileSystem = await fileSystemOf(repository, volume);
  const folder = await findFile(fileSystem, path);
  const page = await listFolder(folder, { after, limit });
  return { ...page, wasInUse: fileSystem.wasInUse };
}

/** @throws RepositoryError, FileSystemError */
export async function findFiles(
  repository: Repository,
  { paths, ...volume }: FindFilesOperation,
): Promise<Omit<FindFilesResult, "anchor">> {
  const fileSystem = await fileSystemOf(repository, volume);
  const files: Pick<FileNode, "kind" | "size">[] = [];
  for (const path of paths) {
    const { kind, size } = await findFile(fileSystem, path);
    files.push({ kind, size });
  }
  return { files };
}

/** @throws RepositoryError, FileSystemError: the output is then not complete */
export async function fetchFiles(
  repository: Repository,
  { paths, format, ...volume }: FetchFilesOperation,
  { signal, onProgress }: OrderContext,
): Promise<Omit<FetchFilesResult, "anchor">> {
  const fileSystem = await fileSystemOf(repository, volume);
  const counter = { written: 0 };
  if (format === "file") {
    const node = await findRegularFile(fileSystem, paths);
    const content = await begun(node.content());
    onProgress({ total: node.size });
    await pipeline(counted(content, counter), openOutput(), { signal });
    return counter;
  }
  for (const path of paths) await findFile(fileSystem, path);
  const items = walkFiles(fileSystem, paths);
  onProgress({ total: 0 });
  if (format === "zip")
    await pipeline(counted(zipArchive(items), counter), openOutput(), {
      signal,
    });
  else
    await pipeline(
      tarArchive(items),
      createGzip({ level: GZIP_LEVEL }),
      (source: AsyncIterable<Buffer>) => counted(source, counter),
      openOutput(),
      { signal },
    );
  return counter;
}

async function findRegularFile(
  fileSystem: FileSystem,
  [path = "/", ...others]: readonly string[],
): Promise<FileNode> {
  const node = await findFile(fileSystem, path);
  if (node.kind === "file" && others.length === 0) return node;
  throw new FileSystemError(
    "file-missing",
    "only one regular file can be downloaded without an archive",
  );
}

async function* counted(
  content: AsyncIterable<Buffer>,
  counter: { written: number },
): AsyncGenerator<Buffer, void> {
  for await (const bytes of content) {
    yield bytes;
    counter.written += bytes.length;
  }
}

async function volumesOf(
  repository: Repository,
  { backup, disk }: { readonly backup: string; readonly disk: string },
): Promise<Volume[]> {
  const manifest = await repository.readManifest(backup);
  return readVolumes(
    new BackupDisk(new DiskReader(repository, manifest, disk)),
  );
}

async function fileSystemOf(
  repository: Repository,
  {
    volume,
    ...disk
  }: {
    readonly backup: string;
    readonly disk: string;
    readonly volume?: string;
  },
): Promise<FileSystem> {
  const volumes = await volumesOf(repository, disk);
  return openFileSystem(findVolume(volumes, volume));
}
