import { randomBytes } from "node:crypto";
import { request } from "node:http";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import {
  ovaOf,
  ovfOf,
  streamOptimized,
} from "@xo-server/backup/test/foreign-fixtures.js";
import { openStore } from "@xo-server/store";
import t, { type Test } from "tap";
import { ApiSession, PASSWORD } from "./api-session.js";
import { untilBegun } from "./pool-tasks.js";
import { RunningProgram } from "./running-program.js";
import { simulate } from "./simulated.js";
import { StatusPage } from "./status-page.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 300_000 };
t.comment("timeout=300000");

const MIB = 2 ** 20;
const GIB = 2 ** 30;
/** The pool is still busy when the server has been killed, and is not long after its start. */
const SLOW_MS = 40_000;

interface EndedTask {
  readonly status: string;
  readonly result: { readonly code: string; readonly message: string };
  readonly warnings?: readonly { readonly message: string }[];
}

/** A pool, a server that can be killed and started again, and an administrator who is deleted meanwhile. */
async function setUp(t: Test) {
  const [pool] = await simulate(t, "--hosts", "1", "--vms", "4");
  const { url: poolUrl, password } = pool!;
  const cwd = t.testdir({
    "config.yaml": `pools: [{ label: P, hosts: ["${poolUrl}"], password: ${password} }]`,
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
  const { server, url, api } = await start();
  const userId = String(
    await api.request("user.create", {
      email: "ben",
      password: PASSWORD,
      permission: "admin",
    }),
  );
  const ben = await ApiSession.open(t, url, "ben", PASSWORD);
  /** The next call of this method takes long. */
  const slow = (method: string) =>
    fetch(`${poolUrl}/sim/fail`, {
      method: "POST",
      body: JSON.stringify({ method, delayMs: SLOW_MS }),
    });
  /** @returns the server that is started again, without the user */
  const killAndDelete = async () => {
    await server.stop("SIGKILL");
    const store = await openStore({
      location: join(cwd, "data/store.db"),
      key: { file: join(cwd, "data/store.key") },
    });
    await store.users.delete(userId);
    await store.close();
    return (await start()).api;
  };
  return { url, api, ben, slow, killAndDelete };
}

/** Numbers of objects that the operations create. */
const counts = (api: ApiSession) =>
  Promise.all(
    ["VM", "VM-template", "VM-snapshot", "VDI", "VDI-snapshot", "VBD"].map(
      async (type) => (await api.all({ type })).length,
    ),
  );

/** An upload that stays incomplete. */
function beginUpload(
  url: string,
  path: string,
  { bytes, length }: { readonly bytes: Buffer; readonly length: number },
): void {
  const upload = request(`${url}${path}`, {
    method: "POST",
    headers: {
      "content-type": "application/octet-stream",
      "content-length": length,
    },
  });
  // The connection ends with the server.
  upload.on("error", () => undefined);
  upload.write(bytes);
}

/** Ids of the tasks of the server that run. */
async function pendingTasks(api: ApiSession): Promise<string[]> {
  const answer = await api.rest("GET", "/tasks?fields=id,status");
  const tasks = (await answer.json()) as { id: string; status: string }[];
  return tasks
    .filter(({ status }) => status === "pending")
    .map(({ id }) => id)
    .filter((id) => !id.startsWith("OpaqueRef"));
}

async function partsOf(api: ApiSession, id: string): Promise<string[]> {
  const answer = await api.rest("GET", `/tasks/${id}`);
  const { tasks = [] } = (await answer.json()) as {
    readonly tasks?: readonly { readonly status: string }[];
  };
  return tasks.map(({ status }) => status);
}

async function endOf(api: ApiSession, id: string): Promise<EndedTask> {
  const answer = await api.rest("GET", `/tasks/${id}?wait=true`);
  return (await answer.json()) as EndedTask;
}

t.test(
  "creations of VMs whose user was deleted meanwhile leave no partial VM",
  LIMIT,
  async (t) => {
    const { api, ben, slow, killAndDelete } = await setUp(t);
    const before = await counts(api);
    const debian = { type: "VM-template", name_label: "Debian Bookworm 12" };
    const [template] = await api.all(debian);
    const [pool] = await api.all({ type: "pool" });
    const srs = { type: "SR", shared: true, content_type: "user" };
    const [sr] = await api.all(srs);
    const begin = async (action: string, more: object) => {
      const answer = await ben.rest(
        "POST",
        `/pools/${pool!.id}/actions/${action}`,
        { template: template!.id, vdis: [{ sr: sr!.id, size: GIB }], ...more },
      );
      return ((await answer.json()) as { taskId: string }).taskId;
    };
    const untilNamed = async (name: string) => {
      while ((await api.all({ name_label: name })).length === 0)
        await pause(50);
    };
    await slow("VDI.create");
    const half = await begin("create_vm", { name_label: "half" });
    await untilNamed("half");
    await untilBegun(api, "VDI.create");
    await slow("VDI.create");
    const several = await begin("create_vms", { names: ["twin-1", "twin-2"] });
    while (!(await partsOf(api, several)).includes("success")) await pause(50);
    await slow("VM.clone");
    const cloned = await begin("create_vm", { name_label: "cloned" });
    await untilBegun(api, "VM.clone");
    const later = await killAndDelete();

    for (const id of [half, several, cloned])
      t.match(await endOf(later, id), {
        status: "failure",
        result: { code: "FORBIDDEN_OPERATION" },
      });
    t.same(
      (await later.all({ name_label: "half" })).length +
        (await later.all({ name_label: "cloned" })).length,
      0,
    );
    const kept = (await later.all({ type: "VM" })).filter(({ name_label }) =>
      String(name_label).startsWith("twin-"),
    );
    t.equal(kept.length, 1, "the one that was whole");
    t.match((await endOf(later, several)).warnings, [
      {
        message: `${String(kept[0]?.["name_label"])} had been created, and is kept`,
      },
    ]);
    await later.request("vm.delete", { id: kept[0]!.id });
    t.same(await counts(later), before);
  },
);

t.test(
  "transfers whose user was deleted meanwhile leave nothing",
  LIMIT,
  async (t) => {
    const { url, api, ben, slow, killAndDelete } = await setUp(t);
    const before = await counts(api);
    const [sr] = await api.all({ type: "SR", SR_type: "nfs" });
    const [network] = await api.all({ type: "network" });

    const disk = (await ben.request("disk.import", {
      name: "cut",
      sr: sr!.id,
      type: "raw",
    })) as { $sendTo: string };
    const bytes = randomBytes(MIB);
    beginUpload(url, disk.$sendTo, { bytes, length: 64 * MIB });
    while ((await api.all({ name_label: "cut" })).length === 0) await pause(50);

    await slow("VIF.create");
    const vm = (await ben.request("vm.import", {
      sr: sr!.id,
      data: { networks: [network!.id] },
    })) as { $sendTo: string };
    const system = randomBytes(MIB);
    const ova = ovaOf({
      "vm.ovf": ovfOf({
        name: "imported",
        disks: [{ id: "system", size: system.length, file: "disk.vmdk" }],
        networks: ["VM Network"],
        config: {},
      }),
      "disk.vmdk": streamOptimized(system),
    });
    beginUpload(url, vm.$sendTo, { bytes: ova, length: ova.length });
    await untilBegun(api, "VIF.create");

    const [running] = await api.all({ type: "VM", power_state: "Running" });
    await slow("VM.set_name_label");
    const xva = (await ben.request("vm.export", { vm: running!.id })) as {
      $getFrom: string;
    };
    // The connection ends with the server.
    void fetch(`${url}${xva.$getFrom}`).catch(() => undefined);
    const isNew = (one: Readonly<Record<string, unknown>>) =>
      String(one["name_label"]).startsWith("[export ");
    while (!(await api.all({ type: "VM-snapshot" })).some(isNew))
      await pause(50);

    const begun = await pendingTasks(api);
    t.equal(begun.length, 3);
    const later = await killAndDelete();
    for (const id of begun)
      t.match(await endOf(later, id), {
        status: "failure",
        result: { code: "FORBIDDEN_OPERATION" },
      });
    t.same(await counts(later), before);
    const left = await later.all({ type: "task", status: "pending" });
    t.same(
      left.filter(({ name_label }) => String(name_label).startsWith("Import")),
      [],
    );
  },
);
