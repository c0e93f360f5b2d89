import { RepositoryError } from "../errors.js";
import type { DiskManifest, Manifest } from "../format/manifest.js";
import { DiskContent } from "../read/disk-content.js";
import { DiskReader } from "../read/disk-reader.js";
import type { Repository } from "../repository/repository.js";
import { openStorage } from "../storage/open-storage.js";
import type { BlockSource } from "../write/block-source.js";
import { writeBackup } from "../write/write-backup.js";
import type { DiskInput } from "../write/write-disk.js";
import { credentialsOf, openRepository } from "./open-repository.js";
import type { OrderContext } from "./order-context.js";
import type { MirrorResult } from "./order-results.js";
import { repeatOnConflict } from "./repeat-on-conflict.js";
import type { MirrorOperation } from "./work-order.js";

/**
 * Copies a backup of another repository. Chunks are authenticated when they are
 * read; those that the target has are not written again.
 * @throws RepositoryError `source-invalid` for problems of the source, others of the target
 */
export async function runMirror(
  target: Repository,
  operation: MirrorOperation,
  context: OrderContext,
): Promise<Omit<MirrorResult, "anchor">> {
  const { source: access, backup, base, key, properties } = operation;
  const { source, manifest, before } = await ofSource(async () => {
    const source = await openRepository(
      openStorage(access.storage),
      credentialsOf(access),
      access.anchor,
    );
    const manifest = await source.readManifest(backup);
    const before =
      base === undefined ? undefined : await source.readManifest(base.backup);
    return { source, manifest, before };
  });
  const { signal, onProgress } = context;
  const disks: DiskInput[] = [];
  for (const disk of manifest.disks)
    disks.push(
      await ofSource(() =>
        toInput(source, { manifest, disk, before }, context),
      ),
    );
  const input = {
    properties: { ...manifest.properties, ...properties },
    disks,
    ...(base === undefined ? {} : { base: base.copy }),
    ...(key !== undefined && { key }),
  };
  const result = await repeatOnConflict(() =>
    writeBackup(target, input, {
      signal,
      maxBytesPerSecond: operation.maxBytesPerSecond,
      onProgress: ({ read, stored }, { done, total }) =>
        onProgress({ done, total, read, written: stored }),
    }),
  );
  const { anchor, ...written } = result;
  void anchor;
  return { ...written, sourceAnchor: source.log.anchor };
}

async function toInput(
  source: Repository,
  {
    manifest,
    disk: { name, size, properties },
    before,
  }: {
    readonly manifest: Manifest;
    readonly disk: DiskManifest;
    readonly before: Manifest | undefined;
  },
  { signal }: OrderContext,
): Promise<DiskInput> {
  const content = new DiskContent(new DiskReader(source, manifest, name));
  const input = { name, properties, source: toSource(content) };
  const old = before?.disks.find((one) => one.name === name);
  if (before === undefined || old?.size !== size)
    return { ...input, allocated: await content.used(signal) };
  const other = new DiskReader(source, before, name);
  return { ...input, changed: await content.changedSince(other, signal) };
}

function toSource(content: DiskContent): BlockSource {
  return {
    size: content.size,
    read: (offset, into) => ofSource(() => content.read(offset, into)),
  };
}

/** Errors of the source must not look like those of the repository that is written. */
async function ofSource<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { message } = error as Error;
    throw new RepositoryError(
      "source-invalid",
      `source repository: ${message}`,
      { cause: error },
    );
  }
}
