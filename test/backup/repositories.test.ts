import { cp, readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import {
  ApiSession,
  PASSWORD,
  startOver,
  type Answer,
} from "../api-session.js";
import { startControlled } from "../controlled-pools.js";
import {
  createRepository,
  emptyFolder,
  PASSPHRASE,
} from "./repository-folders.js";

t.comment("timeout=300000");

interface Shown {
  readonly id: string;
  readonly error?: { readonly code: string };
  readonly state: Readonly<Record<string, unknown>>;
}

const codeOf = ({ error }: Answer) =>
  (error?.data as { code?: string } | undefined)?.code;

t.test("a repository is created, described and removed", async (t) => {
  const { api } = await startControlled(t);
  const { id, folder, recoveryKey, recoverySheet } = await createRepository(
    t,
    api,
  );
  t.match(recoveryKey, /^([A-Z2-7]{4}-){13}[A-Z2-7]{4}$/);
  const url = `file://${folder}`;
  const [shown] = (await api.request("remote.getAll")) as Shown[];
  t.match(shown, { id, name: "nightly", url, enabled: true });
  t.match(shown, { state: { passphrases: ["default"], parity: false } });
  t.match(await api.request("remote.test", { id }), {
    success: true,
    readRate: Number,
    writeRate: Number,
  });
  t.same(await readdir(join(folder, "tmp")), []);
  const health = await api.rest("GET", `/backup-repositories/${id}/health`);
  t.same(await health.json(), { success: true });
  const one = await api.rest("GET", `/backup-repositories/${id}`);
  t.match(await one.json(), {
    benchmarks: [{ readRate: Number }],
    state: { backups: 0, capacity: Number, available: Number },
  });
  t.match(await api.request("remote.getAllInfo"), { [id]: { used: Number } });
  await changedSettings(t, api, id);
  await recoverySheetByPassword(t, api, { id, recoverySheet });
  await hiddenSecrets(t, api, [PASSPHRASE, "another long one", recoveryKey]);

  await api.rest("POST", `/backup-repositories/${id}/actions/forget?sync=true`);
  t.same(await api.request("remote.getAll"), []);
  t.ok((await readdir(folder)).includes("repository.json"), "its files stay");
});

async function changedSettings(t: Test, api: ApiSession, id: string) {
  const path = `/backup-repositories/${id}/actions`;
  const added = await api.rest("POST", `${path}/add_passphrase?sync=true`, {
    name: "second",
    passphrase: "another long one",
  });
  t.same(await added.json(), ["default", "second"]);
  await api.request("backupRepository.removePassphrase", {
    id,
    name: "default",
  });
  const last = { id, name: "second" };
  t.equal(
    codeOf(await api.call("backupRepository.removePassphrase", last)),
    "BACKUP_REPOSITORY_REFUSED",
  );
  await api.rest("PATCH", `/backup-repositories/${id}`, {
    name: "weekly",
    verifyDays: 7,
  });
  t.match(await api.request("remote.get", { id }), {
    name: "weekly",
    verifyDays: 7,
  });
  await api.request("remote.set", { id, name: "monthly" });
  t.match(await api.request("remote.get", { id }), { verifyDays: 7 });
  await api.request("remote.set", { id, verifyDays: null });
  t.notOk(
    "verifyDays" in ((await api.request("remote.get", { id })) as object),
  );
}

async function recoverySheetByPassword(
  t: Test,
  api: ApiSession,
  {
    id,
    recoverySheet,
  }: { readonly id: string; readonly recoverySheet: unknown },
) {
  const read = "backupRepository.getRecoverySheet";
  const again = await api.request(read, { id, password: PASSWORD });
  const keyOf = (sheet: unknown) =>
    JSON.stringify(sheet).match(/[A-Z2-7]{4}(-[A-Z2-7]{4}){6}/g);
  t.same(keyOf(again), keyOf(recoverySheet));
  const refused = await api.call(read, { id, password: "not the password" });
  t.equal(refused.result, undefined, "only with the password of the user");
}

/** Neither answers nor the data folder have them in the clear. */
async function hiddenSecrets(
  t: Test,
  api: ApiSession,
  secrets: readonly string[],
) {
  const answers = [
    await api.request("remote.getAll"),
    await api.request("audit.getRecords", {}).catch(() => undefined),
  ];
  const files = await readdir(join(t.testdirName, "data"));
  const stored = await Promise.all(
    files.map((file) =>
      readFile(join(t.testdirName, "data", file), "latin1").catch(() => ""),
    ),
  );
  const all = JSON.stringify(answers) + stored.join("");
  for (const secret of secrets)
    t.notOk(all.includes(secret), "no secret in the clear");
}

t.test("an existing repository is opened with its keys only", async (t) => {
  const { api } = await startControlled(t);
  const { id, folder, recoveryKey } = await createRepository(t, api);
  const url = `file://${folder}`;
  const again = { name: "again", url, passphrase: PASSPHRASE };
  t.match(await api.call("remote.create", again), { error: {} });
  await api.request("remote.delete", { id });
  const refused = async (more: object) =>
    codeOf(await api.call("remote.create", { name: "x", url, ...more }));
  t.equal(await refused({}), "BACKUP_REPOSITORY_REFUSED");
  t.equal(
    await refused({ passphrase: "a wrong one" }),
    "BACKUP_REPOSITORY_KEY_WRONG",
  );
  t.equal(
    await refused({ recoveryKey: "AAAA-AAAA" }),
    "BACKUP_REPOSITORY_REFUSED",
  );
  const opened = (await api.request("remote.create", again)) as Shown;
  t.notOk("recoverySheet" in opened, "only a new one has a sheet");
  await api.request("remote.delete", { id: opened.id });
  const byKey = { name: "by key", url, recoveryKey };
  t.match(await api.request("remote.create", byKey), { name: "by key" });
  await t.test("its size is read at once", async (t) => {
    for (;;) {
      const [shown] = (await api.request("remote.getAll")) as [Shown];
      const stored = Number(shown.state["stored"] ?? 0);
      if (stored > 0) return t.pass(`${stored} bytes`);
      await sleep(50);
    }
  });
});

t.test("folders that cannot be used are refused", async (t) => {
  const { api } = await startControlled(t);
  const folder = await emptyFolder(t);
  const add = (url: string) =>
    api.call("remote.create", { name: "x", url, passphrase: PASSPHRASE });
  for (const url of [
    "backups",
    "file://host/mnt",
    "file:///",
    "http://h/",
    "nfs://h/p",
    "file:///a%00b",
  ])
    t.match(await add(url), { error: { code: 10 } }, url);
  t.match((await add("/mnt/my backups")).error?.data, {
    reason: /it is a path; as a URL it is file:\/\/\/mnt\/my%20backups;/,
  });
  t.equal(
    codeOf(await add(`file://${folder}/none`)),
    "BACKUP_REPOSITORY_UNREACHABLE",
  );
  await writeFile(join(folder, "notes.txt"), "mine");
  const answer = await add(`file://${folder}`);
  t.equal(codeOf(answer), "BACKUP_REPOSITORY_REFUSED");
  t.match(answer.error?.message, /not empty \(notes\.txt\)/);
  t.equal(
    codeOf(await add(`file://${folder}/notes.txt`)),
    "BACKUP_REPOSITORY_UNREACHABLE",
  );
  t.same(await readdir(folder), ["notes.txt"], "nothing was written");
});

t.test("a repository that is missing, or is older, is reported", async (t) => {
  const { api } = await startControlled(t);
  const { id, folder } = await createRepository(t, api);
  const aside = `${folder}.aside`;
  t.teardown(() => rm(aside, { recursive: true, force: true }));
  const path = `/backup-repositories/${id}`;
  const health = async () =>
    (await (await api.rest("GET", `${path}/health`)).json()) as object;
  const shown = async () => (await api.request("remote.get", { id })) as Shown;
  await rename(folder, aside);
  const code = "BACKUP_REPOSITORY_UNREACHABLE";
  t.match(await health(), { success: false, error: { code } });
  t.match(await shown(), { error: { code, since: Number } });
  await rename(aside, folder);
  t.match(await health(), { success: true });
  t.notOk("error" in (await shown()), "reached again");

  await cp(folder, aside, { recursive: true });
  const more = { id, name: "later", passphrase: "a later passphrase" };
  await api.request("backupRepository.addPassphrase", more);
  await rm(folder, { recursive: true });
  await rename(aside, folder);
  t.match(await health(), { error: { code: "BACKUP_REPOSITORY_OLDER" } });

  await api.request("remote.set", { id, enabled: false });
  t.match(await health(), { error: { code: "BACKUP_REPOSITORY_DISABLED" } });
  const other = await createRepository(t, api, { name: "other" });
  const moved = { id: other.id, url: `file://${folder}` };
  t.equal(
    codeOf(await api.call("remote.set", moved)),
    "BACKUP_REPOSITORY_KEY_WRONG",
    "another repository",
  );
});

t.test("only administrators see repositories, unless granted", async (t) => {
  const { api, url } = await startControlled(t);
  const { id, folder } = await createRepository(t, api);
  const { session: ada } = await api.signUp(t, "ada");
  t.same(await ada.request("remote.getAll"), []);
  t.equal(codeOf(await ada.call("remote.get", { id })), "NO_SUCH_OBJECT");
  t.equal((await ada.rest("GET", `/backup-repositories/${id}`)).status, 404);
  for (const [method, params] of [
    ["remote.create", { name: "x", url: `file://${folder}` }],
    ["remote.set", { id, name: "x" }],
    ["remote.delete", { id }],
    ["remote.test", { id }],
    ["backupRepository.benchmark", { id }],
    ["backupRepository.removePassphrase", { id, name: "default" }],
  ] as const)
    t.equal(codeOf(await ada.call(method, params)), "FORBIDDEN", method);
  const anonymous = await ApiSession.connect(t, url);
  t.equal(codeOf(await anonymous.call("remote.getAll")), "UNAUTHORIZED");
});

t.test("the program starts its workers, also after a kill", async (t) => {
  const { url } = await startOver(t);
  const api = await ApiSession.open(t, url);
  const { id } = await createRepository(t, api);
  t.match(await api.request("remote.test", { id }), { success: true });
});
