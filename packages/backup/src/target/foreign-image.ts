import type { ForeignSource } from "../foreign/foreign-vm.js";
import { ARCHIVE_END, tarFile } from "../xva/tar-writer.js";
import { thinDisk } from "../xva/thin-disk.js";
import { RepositoryError } from "../errors.js";

/** The text of ova.xml for a VM of another product, and where the content of its disks belongs. */
export interface ForeignPlan {
  readonly ova: string;
  /** By the id of the disk; in alphabetical order, as the contents come. */
  readonly folders: Readonly<Record<string, string>>;
}

/**
 * A VM of another product as an XVA, while it is read. The last block comes only after the
 * source is verified: an import of what is not valid is never complete.
 * @throws RepositoryError `source-invalid`
 */
export async function* foreignImage(
  source: ForeignSource,
  { ova, folders }: ForeignPlan,
): AsyncGenerator<Buffer, void> {
  yield* tarFile("ova.xml", Buffer.from(ova));
  let held: Buffer[] = [];
  for await (const { disk, parts } of source.contents()) {
    yield* held;
    const folder = folders[disk.id];
    if (folder === undefined)
      throw new RepositoryError("invalid", `no folder for disk ${disk.id}`);
    held = yield* thinDisk({ folder, size: disk.size, parts });
  }
  await source.verify();
  yield* held;
  yield ARCHIVE_END;
}
