import { mkdir, mkdtemp, readdir, rename, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import {
  FolderStorage,
  Repository,
  collectGarbage,
  verifyRepository,
  writeBackup,
} from "../src/index.js";
import { MemoryDisk, halfRandom } from "./memory-disk.js";
import { seededRandom } from "./random.js";

const MIB = 1024 * 1024;
const passphrase = "correct horse";

/** A repository with a backup, opened; its file system can be unmounted and mounted again. */
async function setUp(t: Test) {
  const parent = await mkdtemp(join(tmpdir(), "xo-unmounted-"));
  t.teardown(() => rm(parent, { recursive: true, force: true }));
  const path = join(parent, "mount");
  const fileSystem = join(parent, "file-system");
  const mountPoint = join(parent, "mount-point");
  for (const folder of [fileSystem, mountPoint]) await mkdir(folder);
  /** In one step, as a file system is mounted: the path always exists. */
  const link = async (target: string) => {
    await symlink(target, join(parent, "link"));
    await rename(join(parent, "link"), path);
  };
  await link(fileSystem);
  const options = { passphrase, scryptN: 16 };
  const created = await Repository.create(new FolderStorage(path), options);
  const disk = new MemoryDisk(2 * MIB);
  disk.write(0, halfRandom(seededRandom(1), MIB));
  const input = { disks: [{ name: "disk", source: disk }] };
  await writeBackup(created, input);
  const open = () => Repository.open(new FolderStorage(path), { passphrase });
  return {
    path,
    input,
    open,
    opened: await open(),
    unmount: () => link(mountPoint),
    mount: () => link(fileSystem),
  };
}

const UNMOUNTED = {
  code: "storage-failed",
  message: /check that it is mounted/,
};

t.test(
  "a backup fails if its repository is unmounted meanwhile, and writes nothing into the mount point",
  async (t) => {
    const { path, input, open, opened, unmount, mount } = await setUp(t);
    await unmount();
    await t.rejects(writeBackup(opened, input), UNMOUNTED);
    t.same(await readdir(path), []);
    await mount();
    await writeBackup(opened, input);
    t.equal((await (await open()).listBackups()).length, 2);
  },
);

t.test(
  "a backup that is unmounted at its end is not acknowledged",
  async (t) => {
    const { path, input, open, opened, unmount, mount } = await setUp(t);
    const [{ name, source }] = input.disks as [(typeof input.disks)[0]];
    let reads = 0;
    const unmounting = {
      size: source.size,
      async read(offset: number, into: Buffer) {
        if (reads++ === 0) await unmount();
        return source.read(offset, into);
      },
    };
    const disks = [{ name, source: unmounting }];
    await t.rejects(writeBackup(opened, { disks }), UNMOUNTED);
    t.same(await readdir(path), []);
    await mount();
    t.equal((await (await open()).listBackups()).length, 1);
  },
);

t.test(
  "a verification of an unmounted repository fails instead of reporting all files as missing",
  async (t) => {
    const { path, opened, unmount } = await setUp(t);
    await unmount();
    await t.rejects(verifyRepository(opened, { repair: true }), UNMOUNTED);
    await t.rejects(collectGarbage(opened, { graceMs: 0 }), UNMOUNTED);
    t.same(await readdir(path), []);
  },
);

t.test(
  "nothing is left in the mount point, at whatever moment the repository is unmounted",
  async (t) => {
    const { path, unmount, mount } = await setUp(t);
    for (let round = 0; round < 100; round++) {
      const storage = new FolderStorage(path);
      await storage.read("repository.json");
      const name = `packs/${String(round).padStart(2, "0")}/${"0".repeat(64)}`;
      const writing = storage
        .putIfAbsent(name, [Buffer.alloc(1)])
        .then(() => true)
        .catch(() => false);
      for (let turns = round % 10; turns > 0; turns--)
        await new Promise(setImmediate);
      await unmount();
      await writing;
      t.same(await readdir(path), [], `round ${round}`);
      await mount();
    }
  },
);
