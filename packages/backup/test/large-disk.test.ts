import t from "tap";
import { Repository, writeBackup } from "../src/index.js";
import { REGION_SIZE } from "../src/format/limits.js";
import type { BlockSource } from "../src/write/block-source.js";
import type { Range } from "../src/write/block-runs.js";
import { BLOCK } from "./memory-disk.js";
import { MemoryStorage } from "./memory-storage.js";

const SIZE = 2 ** 40;
const REGIONS = SIZE / REGION_SIZE;

/** A disk of 1 TiB with a block of data in each 256 MiB. */
class LargeDisk implements BlockSource {
  readonly size = SIZE;
  day = 0;

  async read(offset: number, into: Buffer): Promise<void> {
    into.fill(0);
    for (let at = 0; at < into.length; at += BLOCK)
      if ((offset + at) % REGION_SIZE === 0)
        into.write(`${offset + at} ${this.day}`, at);
  }

  async allocated(offset: number, length: number): Promise<Range[]> {
    const first = Math.ceil(offset / REGION_SIZE) * REGION_SIZE;
    return first < offset + length ? [{ offset: first, length: BLOCK }] : [];
  }
}

t.test("29 of 30 backups of 1 TiB are deleted by names alone", async (t) => {
  const storage = new MemoryStorage();
  const repository = await Repository.create(storage, {
    passphrase: "p",
    scryptN: 16,
  });
  const source = new LargeDisk();
  const ids: string[] = [];
  for (; source.day < 30; source.day++) {
    const base = ids.at(-1);
    const changed = [{ offset: source.day * REGION_SIZE, length: BLOCK }];
    const { id } = await writeBackup(repository, {
      disks: [{ name: "disk", source, ...(base !== undefined && { changed }) }],
      ...(base !== undefined && { base }),
    });
    ids.push(id);
  }
  const { disks } = await repository.readManifest(ids.at(-1)!);
  t.equal(disks[0]!.regions.length, REGIONS);
  const packs = (files: ReadonlyMap<string, Buffer>) =>
    [...files].filter(([name]) => name.startsWith("packs/"));
  const before = packs(storage.files);
  const entries = storage.files.size;
  const started = performance.now();
  await repository.removeBackups(ids.slice(0, 29));
  t.comment(`${Math.round(performance.now() - started)} ms`);
  t.same(packs(storage.files), before, "no pack is written or removed");
  // The manifests and their copies; an entry of the log and its copy.
  t.equal(storage.files.size, entries - 29 * 2 + 2);
  t.same(
    (await repository.listBackups()).map(({ id }) => id),
    [ids[29]],
  );
});
