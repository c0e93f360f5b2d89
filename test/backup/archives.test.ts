import { randomBytes, randomUUID } from "node:crypto";
import { readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FolderStorage, Repository } from "@xo-server/backup";
import t, { type Test } from "tap";
import type { Answer } from "../api-session.js";
import { startControlled } from "../controlled-pools.js";
import { createRepository } from "./repository-folders.js";
import { storeBackup } from "./stored-backups.js";

t.comment("timeout=300000");

const MIB = 2 ** 20;

interface Shown {
  readonly id: string;
  readonly vm: { readonly uuid: string };
  readonly timestamp: number;
  readonly verification: string;
}

const codeOf = ({ error }: Answer) =>
  (error?.data as { code?: string } | undefined)?.code;

const vmOf = (name_label: string) => ({ uuid: randomUUID(), name_label });

async function open(t: Test) {
  const { api, url } = await startControlled(t);
  const repository = await createRepository(t, api);
  const refresh = () =>
    api.request("backupNg.listVmBackups", {
      remotes: [repository.id],
      _forceRefresh: true,
    }) as Promise<Record<string, Record<string, Shown[]>>>;
  return { api, url, repository, refresh };
}

t.test("backups are listed from the index, and deleted", async (t) => {
  const { api, repository, refresh } = await open(t);
  const [ada, bob] = [vmOf("ada"), vmOf("bob")];
  const disk = randomBytes(3 * MIB);
  const first = await storeBackup(repository, ada, { a: disk });
  const second = await storeBackup(repository, ada, { a: disk, b: disk });
  await storeBackup(repository, bob, { c: randomBytes(MIB) });
  const { [repository.id]: byVm } = await refresh();
  const idOf = (backup: string) => `${repository.id}/${backup}`;
  t.same(
    byVm![ada.uuid]!.map(({ id }) => id),
    [idOf(first), idOf(second)],
    "oldest first",
  );
  t.match(byVm![ada.uuid], [
    {
      mode: "full",
      jobId: "job",
      scheduleId: "schedule",
      vm: { uuid: ada.uuid, name_label: "ada" },
      pool: { name: "Paris" },
      size: 3 * MIB,
      disks: [{ uuid: "a", size: 3 * MIB }],
      verification: "none",
    },
    { size: 6 * MIB },
  ]);
  const list = async (query: string) =>
    (await (
      await api.rest("GET", `/backup-archives${query}`)
    ).json()) as Shown[];
  t.equal((await list("?fields=*")).length, 3);
  t.equal((await list(`?fields=id&filter=vm:uuid:${bob.uuid}`)).length, 1);
  const path = `/backup-archives/${encodeURIComponent(idOf(first))}`;
  t.match(await (await api.rest("GET", path)).json(), { id: idOf(first) });
  t.match(await api.request("remote.get", { id: repository.id }), {
    state: { backups: 3, data: 10 * MIB, deduplication: Number },
  });

  const { session: eve } = await api.signUp(t, "eve");
  t.same(await eve.request("backupArchive.getAll"), []);
  for (const [method, params] of [
    ["backupArchive.get", { id: idOf(first) }],
    ["backupNg.deleteVmBackup", { id: idOf(first) }],
    ["backupNg.deleteVmBackups", { ids: [idOf(first)] }],
    ["backupNg.listVmBackups", { remotes: [repository.id] }],
  ] as const)
    t.equal(codeOf(await eve.call(method, params)), "NO_SUCH_OBJECT", method);

  t.equal((await api.rest("DELETE", path)).status, 204);
  t.equal((await api.rest("GET", path)).status, 404);
  const gone = { id: idOf(first) };
  t.equal(
    codeOf(await api.call("backupNg.deleteVmBackup", gone)),
    "NO_SUCH_OBJECT",
  );
  t.same((await list("?fields=id")).length, 2);
  await api.request("backupNg.deleteVmBackups", { ids: [idOf(second)] });
  t.equal((await readdir(join(repository.folder, "backups"))).length, 1);
});

t.test(
  "backups are deleted although another server has deleted one of them",
  async (t) => {
    const { api, repository, refresh } = await open(t);
    const ada = vmOf("ada");
    const disk = { a: randomBytes(MIB) };
    const first = await storeBackup(repository, ada, disk);
    const second = await storeBackup(repository, ada, disk);
    await refresh();
    const { folder, recoveryKey, id } = repository;
    const storage = new FolderStorage(folder);
    const other = await Repository.open(storage, { recoveryKey });
    await other.removeBackups([first]);
    const ids = [`${id}/${first}`, `${id}/${second}`];
    await api.request("backupNg.deleteVmBackups", { ids });
    t.same(await other.listBackups(), []);
    t.same(await api.request("backupArchive.getAll"), []);
  },
);

t.test("a verification reports what is damaged", async (t) => {
  const { api, repository, refresh } = await open(t);
  const { id } = repository;
  const ada = vmOf("ada");
  await storeBackup(repository, ada, { a: randomBytes(3 * MIB) });
  const status = async () =>
    (await refresh())[id]![ada.uuid]!.map((one) => one.verification);
  t.same(await status(), ["none"]);
  const path = `/backup-repositories/${id}/actions`;
  const verify = async () =>
    (await (
      await api.rest("POST", `${path}/verify?sync=true`)
    ).json()) as object;
  t.match(await verify(), { findings: [], repaired: 0, backups: 1 });
  t.same(await status(), ["verified"]);
  t.match(await api.request("remote.get", { id }), {
    state: { verification: { endedAt: Number, findings: [] } },
  });
  await storeBackup(repository, ada, { a: randomBytes(MIB) });
  t.same(await status(), ["verified", "none"], "a later one is not");

  const packs = join(repository.folder, "packs");
  const files = await readdir(packs, { recursive: true });
  for (const file of files.filter((name) => name.length > 10)) {
    const bytes = await readFile(join(packs, file));
    bytes[bytes.length >> 1]! ^= 1;
    await writeFile(join(packs, file), bytes);
  }
  const { findings } = (await verify()) as { findings: unknown[] };
  t.ok(findings.length > 0);
  t.same(await status(), ["damaged", "damaged"]);
});

t.test("a damaged file is repaired from parity", async (t) => {
  const { api } = await startControlled(t);
  const repository = await createRepository(t, api, { parity: true });
  const { folder, id } = repository;
  await storeBackup(repository, vmOf("ada"), { a: randomBytes(3 * MIB) });
  const packs = join(folder, "packs");
  const [file] = (await readdir(packs, { recursive: true })).filter(
    (name) => name.length > 10,
  );
  const bytes = await readFile(join(packs, file!));
  await writeFile(join(packs, file!), bytes.subarray(0, bytes.length >> 1));
  t.match(await api.request("backupRepository.verify", { id, all: true }), {
    findings: [],
    repaired: 1,
  });
  t.same(await readFile(join(packs, file!)), bytes);
  t.match(await api.request("backupRepository.collectGarbage", { id }), {
    deleted: 0,
    freed: 0,
  });
});
