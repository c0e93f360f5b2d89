import { readFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { FakeServer, json, TOKEN } from "./fake-server.js";
import { runCli, type CliOptions } from "./run-cli.js";

const R1 = { id: "r1", name: "nightly", url: "file:///mnt/b", enabled: true };
const REPOSITORIES = [
  { ...R1, state: { stored: 3 * 2 ** 30, verification: { findings: [] } } },
  {
    id: "r2",
    name: "offsite",
    url: "s3://host/bucket",
    enabled: true,
    error: { code: "BACKUP_REPOSITORY_MISSING" },
    state: {},
  },
];
const UUID = "11111111-1111-4111-8111-111111111111";

function archive(id: string, timestamp: number, more: object = {}) {
  return {
    id: `r1/${id}`,
    backupRepository: "r1",
    timestamp,
    mode: "delta",
    vm: { uuid: UUID, name_label: "db-1" },
    disks: [
      { id: `r1/${id}/disk-a`, uuid: "disk-a", name: "system", size: 2 ** 30 },
    ],
    size: 2 ** 30,
    verification: "verified",
    ...more,
  };
}

const ARCHIVES = [
  archive("b3", 1_790_000_200_000, { verification: "damaged" }),
  archive("b2", 1_790_000_100_000),
  archive("b1", 1_790_000_000_000, {
    mode: "full",
    vm: { uuid: "of another", name_label: "web-1" },
  }),
];
const JOBS = [
  { id: "j1", name: "every night", type: "backup" },
  { id: "j2", name: "tests", type: "restore-test" },
  { id: "j3", name: "restart", type: "call" },
];

/** Tasks of actions end at once, with a result. */
async function start(t: Test, result: unknown = { id: "vm-new" }) {
  const server = await FakeServer.start(t);
  const env = { XO_SERVER: server.url, XO_TOKEN: TOKEN };
  Object.assign(server.methods, {
    "remote.getAll": () => REPOSITORIES,
    "job.getAll": () => JOBS,
    "backupArchive.getAll": (params: { vm?: string }) =>
      ARCHIVES.filter(({ vm }) => params.vm === undefined || vm.uuid === UUID),
    "backupArchive.get": ({ id }: { id: string }) =>
      ARCHIVES.find((one) => one.id === id),
    "xo.getAllObjects": ({ filter }: { filter: { name_label: string } }) => ({
      x: { id: `id of ${filter.name_label}` },
    }),
  });
  server.routes["GET /rest/v0/tasks/t1"] = json(200, {
    id: "t1",
    status: "success",
    result,
  });
  const run = (args: readonly string[], options: CliOptions = {}) =>
    runCli(t, args, { ...options, env: { ...env, ...options.env } });
  const acts = (path: string) => {
    server.routes[`POST /rest/v0/${path}`] = json(202, { taskId: "t1" });
  };
  const bodies = () =>
    server.requests
      .filter(({ line }) => line.startsWith("POST"))
      .map(({ line, body }) => [line.slice(14), JSON.parse(body) as unknown]);
  return { server, run, acts, bodies };
}

t.test("backups are listed with VM, repository and state", async (t) => {
  const { run } = await start(t);
  const all = await run(["backup", "list"], { env: { TZ: "UTC" } });
  t.equal(all.code, 0, all.err);
  t.equal(all.lines.length, 4);
  t.match(
    all.lines[0],
    /^time +vm +repository +mode +disks +size +verification +id$/,
  );
  t.match(
    all.lines[1],
    /^2026-\S+ +db-1 +nightly +incremental +1 +1 GiB +damaged +r1\/b3$/,
  );
  const one = await run(["backup", "list", "web-1", "--json"]);
  t.same(one.json, [ARCHIVES[2]], "by the name of the VM");
  const none = await run(["backup", "list", "nobody"]);
  t.match(
    none.err,
    "No backups; repositories that cannot be used: offsite (BACKUP_REPOSITORY_MISSING)",
  );
  const usable = await run(["backup", "list", "nobody", "--repository", "r1"]);
  t.match(usable.err, /^No backups$/m);
});

t.test("a repository is named by id or name", async (t) => {
  const { server, run } = await start(t);
  await run(["backup", "list", UUID, "--repository", "nightly"]);
  t.match(server.calls.at(-1), {
    method: "backupArchive.getAll",
    params: { vm: UUID, "backup-repository": "r1" },
  });
  const wrong = await run(["backup", "list", "--repository", "nigthly"]);
  t.equal(wrong.code, 1);
  t.match(wrong.err, /no such backup repository: nigthly[^]*nearest.*nightly/);
});

t.test("a backup job is run, and its end is waited for", async (t) => {
  const { run, acts, bodies } = await start(t, { status: "success" });
  acts("jobs/j1/actions/run");
  const cli = await run(["backup", "run", "every night"]);
  t.equal(cli.code, 0, cli.err);
  t.equal(cli.out, "status: success\n");
  const started = await run(["backup", "run", "j1", "--no-wait"]);
  t.equal(started.out, "taskId: t1\n");
  t.same(bodies(), [
    ["jobs/j1/actions/run", {}],
    ["jobs/j1/actions/run", {}],
  ]);
  const other = await run(["backup", "run", "restart"]);
  t.match(other.err, "no such backup job", "jobs of other types are none");
  const jobs = await run(["backup", "jobs"]);
  t.match(jobs.out, /every night +backup +j1\ntests +restore-test +j2\n$/);
});

t.test("a failed run is an error", async (t) => {
  const { server, run, acts } = await start(t);
  acts("jobs/j1/actions/run");
  server.routes["GET /rest/v0/tasks/t1"] = json(200, {
    id: "t1",
    status: "failure",
    result: { message: "2 of 3 VMs failed", code: "JOB_FAILED" },
  });
  const cli = await run(["backup", "run", "every night"]);
  t.equal(cli.code, 1);
  t.match(cli.err, "2 of 3 VMs failed (JOB_FAILED)");
});

t.test("VMs that no job backs up are listed", async (t) => {
  const { server, run } = await start(t);
  const notProtected = [{ vm: "v1", name: "lonely", jobs: [] }];
  server.methods["backup.coverage"] = () => ({ notProtected });
  const cli = await run(["backup", "coverage"]);
  t.match(cli.out, /^lonely +v1$/m);
  server.methods["job.plan"] = ({ id }) => ({ of: id });
  t.equal((await run(["backup", "plan", "tests"])).out, "of: j2\n");
});

t.test("a VM is restored from its newest whole backup", async (t) => {
  const { run, acts, bodies } = await start(t);
  const path = "backup-archives/r1%2Fb2/actions/restore";
  acts(path);
  const cli = await run([
    "restore",
    "vm",
    "db-1",
    "--sr",
    "nfs-1",
    "--start",
    "--macs",
    "new",
    "--name",
    "db-2",
    "--network",
    "0=LAN",
    "--network",
    "1=",
  ]);
  t.equal(cli.code, 0, cli.err);
  t.equal(cli.out, "id: vm-new\n");
  const networks = { 0: "id of LAN", 1: null };
  const params = { sr: "id of nfs-1", name: "db-2", start: true };
  t.same(bodies(), [[path, { ...params, newMacs: true, networks }]]);
  t.equal((await run(["restore", "vm", "db-1"])).code, 2, "without an SR");
  const wrong = ["restore", "vm", "db-1", "--sr", "s", "--network", "LAN"];
  t.match((await run(wrong)).err, "0=LAN");
});

t.test(
  "the newest backup is that of a repository that can be read, if there is one",
  async (t) => {
    const { server, run, acts, bodies } = await start(t);
    const copy = archive("b2", 1_790_000_100_000, {
      id: "r2/copy",
      backupRepository: "r2",
    });
    server.methods["backupArchive.getAll"] = () => [
      copy,
      ...ARCHIVES.slice(0, 2),
    ];
    acts("backup-archives/r1%2Fb2/actions/restore");
    const cli = await run(["restore", "vm", UUID, "--sr", "nfs-1"]);
    t.equal(cli.code, 0, cli.err);
    t.match(bodies(), [["backup-archives/r1%2Fb2/actions/restore", {}]]);
    server.methods["backupArchive.getAll"] = () => [copy];
    acts("backup-archives/r2%2Fcopy/actions/restore");
    await run(["restore", "vm", UUID, "--sr", "nfs-1"]);
    t.equal(bodies().length, 2, "the server reports why it cannot");
  },
);

t.test("without a whole backup nothing is restored", async (t) => {
  const { server, run } = await start(t);
  const cli = await run(["restore", "vm", "nobody", "--sr", "s"]);
  t.match(cli.err, /no backup of a VM nobody[^]*xo-cli backup list/);
  server.methods["backupArchive.getAll"] = () => [ARCHIVES[0]];
  const damaged = await run(["restore", "vm", "db-1", "--sr", "s"]);
  t.match(damaged.err, "all 1 backups of db-1 are damaged");
  const other = { uuid: "other", name_label: "db-1" };
  server.methods["backupArchive.getAll"] = () => [
    ARCHIVES[1],
    { ...ARCHIVES[2], vm: other },
  ];
  const twice = await run(["restore", "vm", "db-1", "--sr", "s"]);
  t.equal(twice.code, 2);
  t.match(twice.err, `use one of the UUIDs: ${UUID}, other`);
});

t.test("a VM is replaced only after a confirmation", async (t) => {
  const { run, acts, bodies } = await start(t, true);
  const path = "backup-archives/r1%2Fb1/actions/restore_over";
  acts(path);
  const args = ["restore", "over", "r1/b1", "db-1"];
  t.equal((await run(args)).code, 2, "no terminal");
  const no = await run(args, { columns: 80, input: "no\n" });
  t.match(no.err, "nothing was changed");
  t.same(bodies(), []);
  const yes = await run(args, { columns: 80, input: "yes\n" });
  t.equal(yes.code, 0, yes.err);
  t.same(bodies(), [[path, { vm: "id of db-1" }]]);
  t.equal((await run([...args, "--yes"])).code, 0);
});

t.test("a disk is restored, and a restore is tested", async (t) => {
  const { run, acts, bodies } = await start(t);
  const path = "backup-archives/r1%2Fb2/actions";
  acts(`${path}/restore_disk`);
  acts(`${path}/check`);
  await run(["restore", "disk", "db-1", "system", "--sr", "nfs-1"]);
  await run(["restore", "test", "db-1", "--sr", "nfs-1"]);
  const sr = "id of nfs-1";
  t.same(bodies(), [
    [`${path}/restore_disk`, { disk: "disk-a", sr }],
    [`${path}/check`, { sr }],
  ]);
  const none = await run(["restore", "disk", "db-1", "swap", "--sr", "s"]);
  t.match(none.err, /no such disk of the backup: swap[^]*nearest.*system/);
});

t.test("a backup is downloaded as XVA, a disk as VHD", async (t) => {
  const { server, run } = await start(t);
  server.methods["backup.downloadVm"] = () => ({ $getFrom: "/dl/vm" });
  server.methods["backup.downloadDisk"] = () => ({ $getFrom: "/dl/disk" });
  for (const what of ["vm", "disk"])
    server.routes[`GET /dl/${what}`] = (_request, response) => {
      response.end(`bytes of the ${what}`);
    };
  const file = join(t.testdir(), "file");
  const command = ["backup", "download", "db-1"];
  const vm = await run([...command, "--output", file]);
  t.equal(vm.code, 0, vm.err);
  t.equal(readFileSync(file, "utf8"), "bytes of the vm");
  const disk = await run([...command, "--disk", "system"]);
  t.equal(disk.out, "bytes of the disk");
  t.match(server.calls.at(-1)!.params, { disk: "disk-a", format: "vhd" });
  t.equal((await run([...command, "--format", "raw"])).code, 2);
  t.equal((await run(command, { columns: 80 })).code, 2, "not on a terminal");
});

t.test("backups are deleted after a confirmation", async (t) => {
  const { server, run } = await start(t);
  const deleted: unknown[] = [];
  server.methods["backupNg.deleteVmBackups"] = ({ ids }) => deleted.push(ids);
  const args = ["backup", "delete", "r1/b1", "r1/b2"];
  t.match((await run(args)).err, /2 backups are deleted[^]*--yes/);
  t.same(deleted, []);
  await run([...args, "--yes"]);
  t.same(deleted, [["r1/b1", "r1/b2"]]);
});

t.test("a repository is added, its secret is not an argument", async (t) => {
  const { server, run } = await start(t);
  server.methods["remote.create"] = () => ({
    id: "r3",
    recoverySheet: "KEY\nOF IT",
  });
  const args = ["repository", "add", "new", "file:///mnt/new"];
  const cli = await run([...args, "--no-parity", "--verify-days", "7"], {
    input: "a long passphrase\n",
  });
  t.equal(cli.out, "KEY\nOF IT\nr3\n", cli.err);
  t.same(server.calls.at(-1)!.params, {
    name: "new",
    url: "file:///mnt/new",
    passphrase: "a long passphrase",
    parity: false,
    verifyDays: 7,
  });
  await run([...args, "--recovery-key"], { env: { XO_RECOVERY_KEY: "ABC" } });
  t.match(server.calls.at(-1)!.params, { recoveryKey: "ABC" });
  t.equal((await run(args)).code, 2, "without a secret");
});

t.test("repositories are listed, verified, tested and removed", async (t) => {
  const { server, run, acts, bodies } = await start(t, { checked: 7 });
  const list = await run(["repository", "list"]);
  t.match(list.lines[1], /^nightly +file:\S+ +reachable +3 GiB +0 +r1$/);
  t.match(list.lines[2], /^offsite .* BACKUP_REPOSITORY_MISSING .*r2$/);
  acts("backup-repositories/r1/actions/verify");
  acts("backup-repositories/r1/actions/collect_garbage");
  const verified = await run(["repository", "verify", "nightly", "--all"]);
  t.equal(verified.out, "checked: 7\n");
  await run(["repository", "collect-garbage", "nightly"]);
  t.same(
    bodies().map(([, body]) => body),
    [{ all: true }, {}],
  );
  server.methods["remote.test"] = ({ id }) => ({ of: id });
  t.equal((await run(["repository", "test", "offsite"])).out, "of: r2\n");
  const error = { code: "BACKUP_REPOSITORY_UNREACHABLE", message: "no mount" };
  server.methods["remote.test"] = () => ({ success: false, error });
  const failed = await run(["repository", "test", "offsite"]);
  t.equal(failed.code, 1, "a failed test is a failure");
  t.match(failed.err, /no mount/);
  const removed: unknown[] = [];
  server.methods["remote.delete"] = ({ id }) => removed.push(id);
  t.equal((await run(["repository", "remove", "offsite"])).code, 2);
  await run(["repository", "remove", "offsite", "--yes"]);
  t.same(removed, ["r2"]);
});

t.test("the recovery sheet needs the password of the user", async (t) => {
  const { server, run } = await start(t);
  server.methods["backupRepository.getRecoverySheet"] = ({ password }) => ({
    recoverySheet: `sheet for ${String(password)}`,
  });
  const args = ["repository", "sheet", "nightly"];
  const cli = await run(args, { input: "correct horse\n" });
  t.equal(cli.out, "sheet for correct horse\n", cli.err);
  t.equal((await run(args)).code, 2);
});
