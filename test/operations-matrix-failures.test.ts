import { setTimeout as pause } from "node:timers/promises";
import t, { type Test } from "tap";
import type { Thing } from "./api-session.js";
import { startControlled, type ControlledPools } from "./controlled-pools.js";

t.comment("timeout=300000");

const GiB = 2 ** 30;

/** What a failure could leave behind. */
const CLASSES = ["VM", "VBD", "VDI", "VIF", "VTPM"];

const countsIn = ({ pools }: ControlledPools) =>
  pools.map(({ database }) =>
    CLASSES.map((name) => {
      // Base copies are merged by the storage some time later.
      const isHidden = ([, { managed }]: [string, { managed?: unknown }]) =>
        managed === false;
      const hidden = name === "VDI" ? [...database.records(name)] : [];
      return database.count(name) - hidden.filter(isHidden).length;
    }),
  );

interface Step {
  readonly method: string;
  readonly params: object;
  /** Messages that XAPI fails, one at a time. */
  readonly fails: readonly string[];
}

t.test("a failure during the operation leaves nothing behind", async (t) => {
  const bench = await setUp(t);

  await t.test("the other pool fails", (t) => otherPoolFails(t, bench));

  await t.test("an object that cannot be rolled back is named", (t) =>
    failedRollback(t, bench),
  );
});

type Bench = Awaited<ReturnType<typeof setUp>>;

async function setUp(t: Test) {
  const controlled = await startControlled(
    t,
    { hosts: 2, vms: 4 },
    { vms: 4, seed: 7 },
  );
  const { api, pools } = controlled;
  const [pool, elsewhere] = pools as [
    ControlledPools["pools"][0],
    ControlledPools["pools"][0],
  ];
  const $pool = (await api.all({ type: "pool" })).find(
    ({ uuid }) => pool.database.byUuid("pool", String(uuid)) !== undefined,
  )!.id;
  const one = async (filter: object, here = true) =>
    (await api.all(filter)).find(
      (thing) => (thing["$pool"] === $pool) === here,
    ) as Thing;
  const debian = { type: "VM-template", name_label: "Debian Bookworm 12" };
  const template = (await one(debian)).id;
  const shared = { type: "SR", shared: true, content_type: "user" };
  const sr = (await one(shared)).id;
  const far = (await one(shared, false)).id;
  const network = (await one({ type: "network" })).id;
  const iso = (await api.all({ type: "VDI", $pool })).find(({ name_label }) =>
    String(name_label).endsWith(".iso"),
  )!.id;
  const disk = { name: "spare", size: GiB, sr };
  const vdi = (await api.request("disk.create", disk)) as string;
  const order = {
    name_label: "half",
    template,
    cloudConfig: "x",
    tags: ["t"],
    VDIs: [{ SR: sr, size: GiB }],
    VIFs: [{ network }],
    createVtpm: true,
    installation: { method: "cdrom", repository: iso },
    bootAfterCreate: true,
    auto_poweron: true,
  };
  const running = (await api.request("vm.create", {
    name_label: "running",
    template,
    bootAfterCreate: true,
    VDIs: [{ SR: sr, size: GiB }],
  })) as string;
  const halted = (await api.request("vm.create", {
    name_label: "halted",
    template,
    VDIs: [{ SR: sr, size: GiB }],
  })) as string;

  const targetHost = (await one({ type: "host" })).id;
  const steps = stepsOf({
    order,
    halted,
    running,
    far,
    vdi,
    network,
    sr,
    targetHost,
  });
  const before = countsIn(controlled);

  for (const { method, params, fails } of steps)
    await t.test(method, async (t) => {
      for (const message of fails) {
        pool.failNext(message, "SR_BACKEND_FAILURE_1", ["", "on purpose", ""]);
        const { error } = await api.call(method, params);
        t.match(error?.message, /on purpose|SR_BACKEND_FAILURE_1/, message);
        t.same(pool.injectedErrors.list(), [], `${message} has been called`);
        pool.injectedErrors.clear();
        t.same(countsIn(controlled), before, `${message}: nothing is left`);
      }
    });
  return { elsewhere, api, halted, far, controlled, before, pool, order };
}

/** What the steps use: ids, and the parameters of a creation. */
interface Subjects {
  readonly order: object;
  readonly halted: string;
  readonly running: string;
  /** An SR of the other pool. */
  readonly far: string;
  readonly vdi: string;
  readonly network: string;
  readonly sr: string;
  readonly targetHost: string;
}

function stepsOf(subjects: Subjects): readonly Step[] {
  const { order, halted, running, far, vdi, network, sr, targetHost } =
    subjects;
  const created = [
    "VM.clone",
    "VM.provision",
    "VM.set_tags",
    "VDI.create",
    "VBD.create",
    "VIF.create",
    "VTPM.create",
    "http/put_import_raw_vdi",
    "VM.start",
  ];
  return [
    { method: "vm.create", params: order, fails: created },
    {
      method: "vm.create",
      params: { ...order, clone: false },
      fails: ["VM.copy"],
    },
    {
      method: "vm.createMultiple",
      params: { ...order, count: 1 },
      fails: created,
    },
    {
      method: "vm.clone",
      params: { id: halted, name: "x" },
      fails: ["VM.clone"],
    },
    {
      method: "vm.clone",
      params: { id: running, name: "x", full_copy: true },
      fails: ["VM.snapshot", "VM.copy", "VM.set_is_a_template"],
    },
    {
      method: "vm.copy",
      params: { vm: halted, sr: far },
      fails: ["http/get_export"],
    },
    {
      method: "vm.copyToTemplate",
      params: { id: halted },
      fails: ["VM.clone", "VM.set_is_a_template"],
    },
    {
      method: "vm.attachDisk",
      params: { vm: running, vdi },
      fails: ["VBD.create", "VBD.plug"],
    },
    {
      method: "vm.createInterface",
      params: { vm: running, network },
      fails: ["VIF.create", "VIF.plug"],
    },
    {
      method: "vm.createCloudInitConfigDrive",
      params: { vm: halted, sr, config: "x" },
      fails: ["VDI.create", "VBD.create", "http/put_import_raw_vdi"],
    },
    {
      method: "vm.snapshot",
      params: { id: halted, description: "x" },
      fails: ["VM.snapshot", "VM.set_name_description"],
    },
    {
      method: "vm.migrate",
      params: { vm: running, targetHost, sr },
      fails: ["host.migrate_receive", "VM.migrate_send"],
    },
  ];
}

async function otherPoolFails(
  t: Test,
  { elsewhere, api, halted, far, controlled, before }: Bench,
) {
  for (const message of ["http/put_import", "VM.set_name_label"]) {
    elsewhere.failNext(message, "SR_FULL", ["1", "0"]);
    const { error } = await api.call("vm.copy", { vm: halted, sr: far });
    t.match(error?.message, /SR_FULL/, message);
    elsewhere.injectedErrors.clear();
    for (let tries = 0; tries < 50; tries++)
      if (String(countsIn(controlled)) !== String(before)) await pause(20);
    t.same(countsIn(controlled), before, message);
  }
}

async function failedRollback(
  t: Test,
  { pool, api, order, controlled, before }: Bench,
) {
  pool.failNext("VM.start", "SR_FULL", ["1", "0"]);
  pool.failNext("VDI.destroy", "VDI_IN_USE", ["x", "destroy"], { times: 99 });
  const { error } = await api.call("vm.create", order);
  t.match(error?.message, /^SR_FULL.*not cleaned up: disk OpaqueRef/);
  pool.injectedErrors.clear();
  const leftDisks = async () =>
    (await api.all({ type: "VDI" })).filter(({ name_label }) =>
      /^half|CloudConfigDrive/.test(String(name_label)),
    );
  let left = await leftDisks();
  // A failed call does not wait for the mirror.
  for (let tries = 0; tries < 50 && left.length === 0; tries++) {
    await pause(20);
    left = await leftDisks();
  }
  t.ok(left.length > 0, "as documented");
  for (const { id } of left) await api.request("vdi.delete", { id });
  t.same(countsIn(controlled), before);
}
