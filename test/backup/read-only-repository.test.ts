import { execFile } from "node:child_process";
import { chmod, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import t, { type Test } from "tap";
import type { Answer } from "../api-session.js";
import { startControlled } from "../controlled-pools.js";
import { createRepository, emptyFolder } from "./repository-folders.js";
import { storeBackup } from "./stored-backups.js";

t.comment("timeout=300000");

const run = promisify(execFile);

const codeOf = ({ error }: Answer) =>
  (error?.data as { code?: string } | undefined)?.code;

/** `root` writes whatever the permissions are, but not to a mount that is read-only. */
async function makeReadOnly(folder: string): Promise<void> {
  if (process.getuid?.() !== 0) return chmod(folder, 0o500);
  await run("mount", ["--bind", folder, folder]);
  await run("mount", ["-o", "remount,ro,bind", folder]);
}

async function makeWritable(folder: string): Promise<void> {
  if (process.getuid?.() !== 0) return chmod(folder, 0o700);
  await run("umount", [folder]);
}

async function noReadOnlyReason(t: Test): Promise<string | undefined> {
  const folder = await emptyFolder(t);
  try {
    await makeReadOnly(folder);
    await makeWritable(folder);
    return undefined;
  } catch {
    return "this user can neither mount nor be refused by permissions";
  }
}

const skip = (await noReadOnlyReason(t)) ?? false;

t.test(
  "of a read-only repository backups are listed, verified and read, and the reason is shown",
  { skip },
  async (t) => {
    const { api } = await startControlled(t);
    const created = await createRepository(t, api);
    const { id, folder } = created;
    const vm = {
      uuid: "5d3c5f6e-0000-4000-8000-000000000001",
      name_label: "a",
    };
    const content = Buffer.alloc(256 * 1024, "content ");
    const backup = await storeBackup(created, vm, { d0: content });
    const [pack] = await readdir(join(folder, "packs"), {
      recursive: true,
    }).then((names) => names.filter((name) => name.length > 60));
    await makeReadOnly(folder);
    let isReadOnly = true;
    const end = async () => {
      if (isReadOnly) await makeWritable(folder);
      isReadOnly = false;
    };
    t.teardown(end);

    const refresh = { remotes: [id], _forceRefresh: true };
    t.match(await api.request("backupNg.listVmBackups", refresh), {
      [id]: { [vm.uuid]: [{ id: `${id}/${backup}` }] },
    });
    const code = "BACKUP_REPOSITORY_READ_ONLY";
    const shown = () => api.request("remote.get", { id });
    t.match(await shown(), { error: { code, message: /read-only/ } });
    t.match(await api.request("backupRepository.verify", { id, all: true }), {
      findings: [],
      backups: 1,
    });
    const path = `/backup-archives/${id}%2F${backup}/disks/d0.raw`;
    const downloaded = await (await api.rest("GET", path)).arrayBuffer();
    t.ok(Buffer.from(downloaded).equals(content));
    t.match(await shown(), { error: { code } }, "reading does not change that");
    const more = { id, name: "more", passphrase: "another passphrase" };
    t.equal(
      codeOf(await api.call("backupRepository.addPassphrase", more)),
      code,
    );
    const removal = { id: `${id}/${backup}` };
    t.equal(codeOf(await api.call("backupNg.deleteVmBackup", removal)), code);

    await end();
    await api.request("backupNg.listVmBackups", refresh);
    t.notOk("error" in ((await shown()) as object), "it is writable again");

    const damaged = join(folder, "packs", pack!);
    const bytes = await readFile(damaged);
    bytes[100]! ^= 1;
    await chmod(damaged, 0o600);
    await writeFile(damaged, bytes);
    await makeReadOnly(folder);
    isReadOnly = true;
    t.match(
      await api.request("backupRepository.verify", { id, all: true }),
      { findings: [{ problem: "damaged" }], repaired: 0 },
      "damage is reported without a repair",
    );
  },
);
