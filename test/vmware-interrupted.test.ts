import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import {
  CONTROLLER,
  NICS,
  diskDevice,
  flatDescriptor,
  startFakeVsphere,
} from "@xo-server/backup/test/fake-vsphere.js";
import { openStore } from "@xo-server/store";
import t, { type Test } from "tap";
import { ApiSession, PASSWORD } from "./api-session.js";
import { untilBegun } from "./pool-tasks.js";
import { RunningProgram } from "./running-program.js";
import { simulate } from "./simulated.js";
import { StatusPage } from "./status-page.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");

const MIB = 2 ** 20;
const SIZE = 24 * MIB;
const DISK = "vm/system-flat.vmdk";

/** A pool, a vCenter with a VM of one disk, and a server that can be started again with its folder. */
async function setUp(t: Test) {
  const [pool] = await simulate(t, "--hosts", "1", "--vms", "4");
  const cwd = t.testdir({
    "config.yaml": `pools: [{ label: P, hosts: ["${pool!.url}"], password: ${pool!.password} }]`,
  });
  const start = async () => {
    const args = ["start", "--host", "127.0.0.1", "--port", "0"];
    const env = { XO_ADMIN_PASSWORD: PASSWORD };
    const server = new RunningProgram(t, "xo-server", args, { cwd, env });
    const url = await server.find(/Web server listening on (http:\S+)/);
    const page = await StatusPage.open(t, url, PASSWORD);
    await page.until(({ pools }) => pools["p"]?.state === "watching");
    return { server, url, api: await ApiSession.open(t, url) };
  };
  const vcenter = await startFakeVsphere(t);
  vcenter.files
    .set(
      "vm/system.vmdk",
      flatDescriptor(`RW ${SIZE / 512} VMFS "system-flat.vmdk"`),
    )
    .set(DISK, randomBytes(SIZE));
  vcenter.vms.push({
    id: "vm-1",
    name: "web",
    powerState: "poweredOff",
    devices: diskDevice("system", SIZE) + CONTROLLER + NICS,
  });
  const started = await start();
  const [sr] = await started.api.all({ type: "SR", SR_type: "nfs" });
  const [network] = await started.api.all({ type: "network" });
  const order = {
    host: vcenter.host,
    user: "user",
    password: "secret&word",
    fingerprint: vcenter.fingerprint,
    vm: "vm-1",
    sr: sr!.id,
    network: network!.id,
  };
  const deleteUser = async (id: string) => {
    const data = join(cwd, "data");
    const store = await openStore({
      location: join(data, "store.db"),
      key: { file: join(data, "store.key") },
    });
    await store.users.delete(id);
    await store.close();
  };
  return { ...started, start, deleteUser, vcenter, order, poolUrl: pool!.url };
}

/** Numbers of objects that an import creates. */
const counts = (api: ApiSession) =>
  Promise.all(
    ["VM", "VDI", "VBD", "VIF"].map(
      async (type) => (await api.all({ type })).length,
    ),
  );

async function untilSame(
  api: ApiSession,
  expected: readonly number[],
): Promise<void> {
  // The pool deletes what it has of an image whose upload has ended early.
  while (String(await counts(api)) !== String(expected)) await pause(100);
}

/** The task of the import that has been begun last. */
async function latestImport(api: ApiSession): Promise<string> {
  for (;;) {
    const [found] = await pendingImports(api);
    if (found !== undefined) return found;
    await pause(50);
  }
}

/** The tasks of imports that run. */
async function pendingImports(api: ApiSession): Promise<readonly string[]> {
  const answer = await api.rest("GET", "/tasks?fields=*");
  const tasks = (await answer.json()) as {
    readonly id: string;
    readonly status: string;
    readonly properties?: { readonly name?: string };
  }[];
  return tasks
    .filter(
      ({ status, properties }) =>
        status === "pending" && /^Import of/.test(properties?.name ?? ""),
    )
    .map(({ id }) => id);
}

/** In percent: 100 when the pool has the disks. */
async function progressOf(api: ApiSession, task: string): Promise<number> {
  const answer = await api.rest("GET", `/tasks/${task}`);
  const { progress = 0 } = (await answer.json()) as { progress?: number };
  return progress;
}

async function endOf(api: ApiSession, task: string) {
  const answer = await api.rest("GET", `/tasks/${task}?wait=true`);
  return (await answer.json()) as {
    readonly status: string;
    readonly result: { readonly message: string };
  };
}

t.test(
  "an import from VMware that is cancelled leaves nothing",
  LIMIT,
  async (t) => {
    const { api, vcenter, order } = await setUp(t);
    const before = await counts(api);
    vcenter.faults.set(DISK, "stalled");
    const answer = api.call("vm.importFromEsxi", order);
    while (vcenter.faults.has(DISK)) await pause(20);
    const task = await latestImport(api);
    await api.rest("POST", `/tasks/${task}/actions/abort`, {});
    t.match(await answer, { error: { data: { code: "ABORTED" } } });
    t.match(await endOf(api, task), { status: "failure" });
    await untilSame(api, before);
    t.equal(vcenter.vms[0]!.powerState, "poweredOff");

    const id = await api.request("vm.importFromEsxi", order);
    t.match(await api.all({ id }), [{ name_label: "web" }], "the next one");
  },
);

t.test(
  "a server killed during an import from VMware leaves no partial VM",
  LIMIT,
  async (t) => {
    const { server, api, start, vcenter, order, poolUrl } = await setUp(t);
    const before = await counts(api);
    vcenter.faults.set(DISK, "stalled");
    // The connection of the call ends with the server.
    void api.call("vm.importFromEsxi", order).catch(() => undefined);
    while (vcenter.faults.has(DISK)) await pause(20);
    const reading = await latestImport(api);
    await server.stop("SIGKILL");

    const second = await start();
    t.match(await endOf(second.api, reading), {
      status: "interrupted",
      result: { message: /interrupted/ },
    });
    await untilSame(second.api, before);

    // The pool has the VM, but not its VIFs.
    await fetch(`${poolUrl}/sim/fail`, {
      method: "POST",
      body: JSON.stringify({ method: "VIF.create", delayMs: 15_000 }),
    });
    void second.api.call("vm.importFromEsxi", order).catch(() => undefined);
    const creating = await latestImport(second.api);
    while ((await progressOf(second.api, creating)) < 100) await pause(50);
    await untilBegun(second.api, "VIF.create");
    await second.server.stop("SIGKILL");

    const third = await start();
    t.match(await endOf(third.api, creating), {
      status: "interrupted",
      result: { message: /incomplete VMs were deleted/ },
    });
    await untilSame(third.api, before);
    const id = await third.api.request("vm.importFromEsxi", order);
    t.match(await third.api.all({ id }), [{ name_label: "web" }]);
  },
);

t.test(
  "imports from VMware whose user was deleted meanwhile leave no partial VM",
  LIMIT,
  async (t) => {
    const { server, url, api, start, deleteUser, vcenter, order, poolUrl } =
      await setUp(t);
    const before = await counts(api);
    const ben = { email: "ben", password: PASSWORD, permission: "admin" };
    const userId = String(await api.request("user.create", ben));
    const session = await ApiSession.open(t, url, "ben", PASSWORD);
    // One VM is complete but for its VIFs, of the other one the pool has a part of a disk.
    await fetch(`${poolUrl}/sim/fail`, {
      method: "POST",
      body: JSON.stringify({ method: "VIF.create", delayMs: 40_000 }),
    });
    void session.call("vm.importFromEsxi", order).catch(() => undefined);
    const creating = await latestImport(api);
    await untilBegun(api, "VIF.create");
    vcenter.faults.set(DISK, "stalled");
    const { vm, ...several } = order;
    void session
      .call("vm.importMultipleFromEsxi", { ...several, vms: [vm] })
      .catch(() => undefined);
    while (vcenter.faults.has(DISK)) await pause(20);
    const reading = (await pendingImports(api)).find((id) => id !== creating);
    await server.stop("SIGKILL");
    await deleteUser(userId);

    const second = await start();
    for (const task of [creating, reading!])
      t.match(await endOf(second.api, task), {
        status: "failure",
        result: { code: "FORBIDDEN_OPERATION" },
      });
    await untilSame(second.api, before);
  },
);
