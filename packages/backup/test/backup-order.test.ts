import t from "tap";
import {
  Repository,
  verifyRepository,
  writeBackup,
  type BackupReference,
} from "../src/index.js";
import { openSealedJson, sealJson } from "../src/format/sealed.js";
import { stateToJson, type StateJson } from "../src/log/repository-state.js";
import { BLOCK, MemoryDisk } from "./memory-disk.js";
import { MemoryStorage } from "./memory-storage.js";

const passphrase = "correct horse";
const day = (date: string) => Date.parse(`${date}T00:00:00Z`);

/** A repository with a backup at each of these times, which clocks have shown. */
async function withBackupsAt(times: readonly number[]) {
  const storage = new MemoryStorage();
  let time = times[0]!;
  const repository = await Repository.create(storage, {
    passphrase,
    scryptN: 16,
    now: () => time,
  });
  const disk = new MemoryDisk(BLOCK);
  disk.write(0, Buffer.from("content"));
  const disks = [{ name: "disk", source: disk }];
  const ids: string[] = [];
  const backUp = async (at: number) => {
    time = at;
    ids.push((await writeBackup(repository, { disks })).id);
  };
  for (const at of times) await backUp(at);
  return { storage, repository, ids, backUp };
}

function isAscending(backups: readonly BackupReference[]): boolean {
  return backups.every(
    (one, i) => i === 0 || one.order > backups[i - 1]!.order,
  );
}

const idsOf = (backups: readonly BackupReference[]) =>
  backups.map(({ id }) => id);

t.test(
  "backups have the order of the log when a clock is set back",
  async (t) => {
    const { repository, storage, ids } = await withBackupsAt([
      day("2026-11-01"),
      day("2026-11-02"),
      day("2020-01-01"),
      day("2020-01-02"),
    ]);
    const backups = await repository.listBackups();
    t.same(idsOf(backups), ids);
    t.ok(isAscending(backups));
    t.equal(
      backups[1]!.order,
      day("2026-11-02"),
      "it is the time, if that is right",
    );
    const reopened = await Repository.open(storage, { passphrase });
    t.same(await reopened.listBackups(), backups);
  },
);

t.test(
  "a backup is newer than one of a clock that was ahead, also after that one was removed",
  async (t) => {
    const { repository, ids, backUp } = await withBackupsAt([
      day("2026-11-01"),
      day("2036-11-02"),
      day("2026-11-03"),
    ]);
    const [, ahead, after] = await repository.listBackups();
    await repository.removeBackups([ids[1]!]);
    await backUp(day("2026-11-04"));
    const backups = await repository.listBackups();
    t.same(idsOf(backups), [ids[0], ids[2], ids[3]]);
    t.ok(isAscending([ahead!, ...backups.slice(1)]));
    t.equal(backups[1]!.order, after!.order, "an order never changes");
  },
);

t.test("a checkpoint has the orders", async (t) => {
  const times = Array.from({ length: 70 }, (_, i) =>
    i === 40 ? day("2036-01-01") : day("2026-01-01") + i,
  );
  const { repository, storage, ids } = await withBackupsAt(times);
  await repository.removeBackups([ids[40]!]);
  const reopened = await Repository.open(storage, { passphrase });
  t.same(await reopened.listBackups(), await repository.listBackups());
  t.equal(reopened.log.state.lastOrder, repository.log.state.lastOrder);
  t.same((await verifyRepository(reopened)).findings, []);
});

t.test(
  "a checkpoint of an earlier version, without orders, is read",
  async (t) => {
    const times = Array.from({ length: 70 }, (_, i) => day("2026-01-01") - i);
    const { repository, storage, ids } = await withBackupsAt(times);
    const name = "checkpoints/0000000064";
    const json = openSealedJson(
      repository.key,
      name,
      await storage.read(name),
    ) as StateJson;
    const earlier: unknown = JSON.parse(
      JSON.stringify(json, (field, value: unknown) =>
        field === "order" || field === "lastOrder" ? undefined : value,
      ),
    );
    await storage.remove([name]);
    await storage.putIfAbsent(name, [sealJson(repository.key, name, earlier)]);
    const reopened = await Repository.open(storage, { passphrase });
    t.same(idsOf(await reopened.listBackups()), ids);
    t.ok(isAscending(await reopened.listBackups()));
    t.same(stateToJson(reopened.log.state), stateToJson(repository.log.state));
    t.same(
      (await verifyRepository(reopened)).findings,
      [],
      "it is not damaged",
    );
  },
);

t.test(
  "of two servers that back up the same at the same time, one stores it",
  async (t) => {
    const { storage, repository } = await withBackupsAt([day("2026-11-01")]);
    const other = await Repository.open(storage, { passphrase });
    const disk = new MemoryDisk(BLOCK);
    disk.write(0, Buffer.from("content"));
    const input = {
      disks: [{ name: "disk", source: disk }],
      key: "run 1 VM a",
    };
    const [one, two] = await Promise.all([
      writeBackup(repository, input),
      writeBackup(other, input),
    ]);
    t.equal(one.id, two.id);
    const late = await writeBackup(other, input);
    t.equal(late.id, one.id, "also when it began later");
    t.equal((await repository.listBackups()).length, 2);
    const next = await writeBackup(other, { ...input, key: "run 2 VM a" });
    t.not(next.id, one.id);
    const reopened = await Repository.open(storage, { passphrase });
    t.same(
      (await reopened.listBackups()).map(({ key }) => key),
      [undefined, "run 1 VM a", "run 2 VM a"],
    );
    const { findings } = await verifyRepository(reopened, { repair: false });
    t.same(findings, [], "nothing is left of the others");
  },
);
