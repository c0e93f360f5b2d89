import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  mkdir,
  readFile,
  rename,
  rm,
  truncate,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import t, { type Test } from "tap";
import { RunningProgram } from "../running-program.js";
import { simulateIn, type Simulated } from "../simulated.js";
import { emptyFolder } from "./repository-folders.js";

/*
 * Executes docs/backup.md, "When the server is lost too", with its commands: only
 * xo-cli, and what an administrator still has, the storage with the repository and
 * the recovery sheet.
 */

t.comment("timeout=600000");

const MIB = 2 ** 20;
const isInstalled = spawnSync("qemu-img", ["--version"]).status === 0;
const LISTENING = /Web server listening on (http:\S+)/;
/** Of the lost server. */
const PASSWORD = "the password of the lost server";

type Thing = Readonly<Record<string, unknown>> & { readonly id: string };

/** A server on an empty data folder, a pool, and xo-cli of an administrator without a registered server. */
class Site {
  readonly folder: string;
  readonly #t: Test;
  #url = "";

  constructor(t: Test, folder: string) {
    this.#t = t;
    this.folder = folder;
  }

  async startServer(): Promise<RunningProgram> {
    await mkdir(join(this.folder, "data"), { mode: 0o700, recursive: true });
    const args = ["start", "--host", "127.0.0.1", "--port", "0"];
    const server = new RunningProgram(
      this.#t,
      "xo-server",
      [...args, "--data", join(this.folder, "data")],
      { cwd: this.folder },
    );
    this.#url = await server.find(LISTENING);
    return server;
  }

  /** The initial password that the server has written to a file. */
  async initialPassword(): Promise<string> {
    const path = join(this.folder, "data", "initial-admin-password");
    return (await readFile(path, "utf8")).trim();
  }

  async register(password: string): Promise<void> {
    await this.#run(["register", this.#url, "admin"], {
      XO_PASSWORD: password,
    });
  }

  /** `xo-cli call METHOD name=value ...` @returns the result */
  call<Result = unknown>(method: string, ...values: string[]) {
    return this.run<Result>(["call", method, ...values]);
  }

  /** `xo-cli ...` @returns the result */
  async run<Result = unknown>(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<Result> {
    const output = await this.#run(["--json", ...args], env);
    return (output === "" ? undefined : JSON.parse(output)) as Result;
  }

  /** `xo-cli list TYPE --filter ...`, repeated until an object is found. */
  async find(type: string, filter: string): Promise<Thing> {
    for (;;) {
      const args = ["--json", "list", type, "--filter", filter];
      const [first] = JSON.parse(await this.#run(args)) as Thing[];
      if (first !== undefined) return first;
    }
  }

  /** `xo-cli rest get vdis/ID.raw --output FILE` */
  async exportDisk(id: string, file: string): Promise<void> {
    await this.#run(["rest", "get", `vdis/${id}.raw`, "--output", file]);
  }

  async #run(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const cwd = this.folder;
    const program = new RunningProgram(this.#t, "xo-cli", args, { cwd, env });
    const code = await program.ended;
    if (code !== 0)
      throw new Error(`xo-cli ${args.join(" ")}: ${code}\n${program.output}`);
    return program.output;
  }
}

interface Lost {
  readonly folder: string;
  readonly recoverySheet: string;
  /** An export of the disk. */
  readonly original: string;
}

/**
 * The state before: a server and a pool; backups of a VM, of the pool's database
 * and of the server. Server and pool are lost.
 */
async function loseEverything(t: Test): Promise<Lost> {
  const folder = await emptyFolder(t, "repository");
  const site = new Site(t, await emptyFolder(t, "old"));
  const old = ["--hosts", "1", "--vms", "0", "--pace", "0.05", "--seed", "1"];
  const { program: pool, pools } = await simulateIn(t, ...old);
  const server = await site.startServer();
  await site.register(await site.initialPassword());
  const { url, user, password } = pools[0]!;
  const names = [`host=${url}`, `username=${user}`, `password=${password}`];
  await site.call("server.add", ...names);
  const sr = await site.find("SR", "SR_type:nfs");
  const template = await site.find("VM-template", '"Other install media"');
  const vm = await site.call<string>(
    "vm.create",
    "name_label=db-1",
    `template=${template.id}`,
  );
  const [first] = (await site.find("VM", `id:${vm}`))["$VBDs"] as string[];
  if (first !== undefined) {
    const { VDI } = await site.find("VBD", `id:${first}`);
    await site.call("vdi.delete", `id=${String(VDI)}`);
  }
  const size = 16 * MIB;
  const disk = await site.call<string>(
    "disk.create",
    "name=data",
    `size=${size}`,
    `sr=${sr.id}`,
    `vm=${vm}`,
  );
  const content = join(site.folder, "content.raw");
  await writeFile(content, randomBytes(5 * MIB));
  await truncate(content, size);
  await site.call(
    "disk.importContent",
    `id=${disk}`,
    "format=raw",
    `@=${content}`,
  );
  const original = join(folder, "..", "original.raw");
  await site.exportDisk(disk, original);

  const { id: repository, recoverySheet } = await site.run<{
    id: string;
    recoverySheet: string;
  }>(["repository", "add", "nightly", `file://${folder}`], {
    XO_PASSPHRASE: "a long passphrase",
  });
  const poolId = (await site.find("pool", "type:pool")).id;
  const shared = { repositories: [repository], retention: { keepDaily: 7 } };
  for (const job of [
    { type: "backup", name: "nightly", filter: "name_label:db-1", ...shared },
    {
      type: "metadataBackup",
      name: "pools and server",
      pools: [poolId],
      server: true,
      ...shared,
    },
  ]) {
    // The last run backs up the password.
    if (job.type === "metadataBackup") {
      const initial = await site.initialPassword();
      await site.call(
        "user.changePassword",
        `oldPassword=${initial}`,
        `newPassword=${PASSWORD}`,
      );
    }
    const text = JSON.stringify(job);
    await site.call<string>("job.create", `job=json:${text}`);
    const task = await site.run(["backup", "run", job.name]);
    t.match(task, { result: { status: "success" } }, job.name);
  }
  await server.stop("SIGKILL");
  await pool.stop("SIGKILL");
  await rm(site.folder, { recursive: true });
  return { folder, recoverySheet, original };
}

t.test(
  "after the loss of the server and the pool a VM is restored by the recovery sheet",
  { skip: isInstalled ? false : "qemu-img is not installed" },
  async (t) => {
    const lost = await loseEverything(t);
    const { recoverySheet, original } = lost;
    const site = new Site(t, await emptyFolder(t, "new"));
    const args = [
      "--hosts",
      "1",
      "--vms",
      "0",
      "--pace",
      "0.05",
      "--seed",
      "2",
    ];
    const { pools } = await simulateIn(t, ...args);

    // 1. Install the server again.
    await site.startServer();
    await site.register(await site.initialPassword());

    // 2. Mount the storage at another path.
    const folder = `${lost.folder}-2`;
    await rename(lost.folder, folder);

    // 3. Add the repository with the recovery key of the sheet (both lines, joined by "-").
    const key = [...recoverySheet.matchAll(/^ {4}([A-Z2-7-]{34})$/gm)]
      .map(([, half]) => half)
      .join("-");
    const add = ["repository", "add", "nightly", `file://${folder}`];
    await site.run([...add, "--recovery-key"], { XO_RECOVERY_KEY: key });
    const list = () => site.run<Thing[]>(["backup", "list"]);
    let [backup] = await list();
    // Within a minute.
    while (backup === undefined) [backup] = await list();
    t.match(backup, { vm: { name_label: "db-1" } });

    // 4. Bring back users, rights, jobs and connections to pools.
    const metadata = await site.call<Thing[]>("metadataBackup.getAll");
    const types = metadata.map(({ type }) => type);
    t.same(types.toSorted(), ["pool", "xo"]);
    const configuration = metadata.find(({ type }) => type === "xo")!;
    t.equal(
      await site.call(
        "metadataBackup.restore",
        `id=${configuration.id}`,
        "--yes",
      ),
      true,
      "it is answered, although it ends the session",
    );

    // 5. Sign in again, with a password of the lost server.
    const listRepositories = ["repository", "list"];
    await t.rejects(site.run(listRepositories), /invalid or has expired/);
    await site.register(PASSWORD);
    const [repository] = await site.run<Thing[]>(listRepositories);
    t.match(repository, { name: "nightly", url: `file://${lost.folder}` });
    await site.call(
      "remote.set",
      `id=${repository!.id}`,
      `url=file://${folder}`,
    );
    t.equal((await site.call<Thing[]>("job.getAll")).length, 2);

    await restoreIntoNewPool(t, site, pools[0]!, {
      repository: repository!.id,
      original,
    });
  },
);

/** The steps of "When a pool is lost". */
async function restoreIntoNewPool(
  t: Test,
  site: Site,
  { url, user, password }: Simulated,
  { repository, original }: Readonly<Record<"repository" | "original", string>>,
) {
  // 2. Add the pool. 3. List what there is.
  const names = [`host=${url}`, `username=${user}`, `password=${password}`];
  await site.call("server.add", ...names);
  const sr = await site.find("SR", "SR_type:nfs");
  const list = () => site.run<Thing[]>(["backup", "list"]);
  let [backup] = await list();
  // Within a minute: a call takes half a second at least.
  for (let i = 0; i < 100 && backup === undefined; i++) [backup] = await list();
  t.match(backup, { vm: { name_label: "db-1" }, id: `${repository}/` });

  // 5. Restore the VM.
  const { result } = await site.run<{ result: Thing }>([
    "restore",
    "vm",
    "db-1",
    "--sr",
    sr.id,
    "--start",
  ]);
  const vm = await site.find("VM", `id:${result.id} power_state:Running`);
  t.equal(vm["name_label"], "db-1");

  // 6. Remove the connection to the old pool.
  const servers = await site.call<Thing[]>("server.getAll");
  t.equal(servers.length, 2);
  const old = servers.find(({ host }) => !url.endsWith(String(host)));
  await site.call("server.remove", `id=${old!.id}`);

  const disk = await site.find("VDI", "name_label:data");
  const copy = join(site.folder, "copy.raw");
  await site.exportDisk(disk.id, copy);
  const raw = ["-f", "raw", "-F", "raw"];
  const compared = execFileSync("qemu-img", [
    "compare",
    ...raw,
    original,
    copy,
  ]);
  t.match(String(compared), /identical/);
}
