import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import { startCreationBench, type CreationBench } from "./vm-creation-bench.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 300_000 };
t.comment("timeout=300000");

const GiB = 2 ** 30;

t.test("VMs are created from templates", LIMIT, async (t) => {
  const bench = await startCreationBench(t);

  await t.test("as Terraform requests it", (t) => asTerraform(t, bench));

  await t.test("with an address, settings, a CD and a host", (t) =>
    withSettings(t, bench),
  );

  await t.test("over REST, with the requirements of the template", (t) =>
    overRest(t, bench),
  );

  await t.test("from a template with disks", (t) =>
    fromTemplateWithDisks(t, bench),
  );

  await t.test("with a config drive, which is deleted after the boot", (t) =>
    withConfigDrive(t, bench),
  );

  await t.test("or not at all", (t) => refusedCreations(t, bench));
});

async function asTerraform(
  t: Test,
  { api, terraform, template, disksOf, sr, cardsOf, network }: CreationBench,
) {
  const id = (await api.request("vm.create", terraform())) as string;
  const vm = await api.get(id);
  t.match(vm, {
    type: "VM",
    name_label: "tf",
    power_state: "Halted",
    CPUs: { number: 2 },
    memory: { dynamic: [2 * GiB, 2 * GiB], static: [Number, 2 * GiB] },
    tags: ["t"],
    boot: { firmware: "bios" },
    vga: "std",
    videoram: 8,
    high_availability: "",
    auto_poweron: false,
    creation: { template: template["uuid"], date: /Z$/, user: String },
  });
  t.notOk("cpuCap" in vm);
  t.match(await disksOf(id), [
    {
      name_label: "d",
      name_description: "of tf",
      size: 10 * GiB,
      $SR: sr.id,
    },
  ]);
  t.match(await cardsOf(id), [{ $network: network.id, device: "0" }]);
  for (const more of [
    { xenStoreData: null },
    { xenStoreData: {}, memoryMin: GiB },
  ])
    t.equal(await api.request("vm.set", { id, ...more }), true);
  t.match(await api.get(id), { memory: { dynamic: [GiB, 2 * GiB] } });
  t.ok(await api.request("vm.delete", { id }));
  t.same(await api.all({ id }), []);
  t.same(await api.all({ name_label: "d" }), [], "with its disk");
}

async function withSettings(
  t: Test,
  {
    one,
    api,
    terraform,
    sr,
    network,
    networks,
    iso,
    disksOf,
    cardsOf,
    pool,
  }: CreationBench,
) {
  const host = await one({ type: "host" });
  const id = (await api.request(
    "vm.create",
    terraform({
      VDIs: [
        { SR: sr.id, size: "4 GiB", name_label: "one" },
        { SR: sr.id, size: GiB, name_label: "two" },
      ],
      VIFs: [
        {
          network: network.id,
          mac: "02:00:00:00:00:07",
          allowedIpv4Addresses: ["192.0.2.7"],
        },
        { network: networks[1]!.id },
      ],
      installation: { method: "cdrom", repository: iso.id },
      affinityHost: host.id,
      startDelay: 5,
      coresPerSocket: 2,
      blockedOperations: { destroy: "kept" },
      auto_poweron: true,
      copyHostBiosStrings: true,
      secureBoot: true,
      cpuWeight: 512,
    }),
  )) as string;
  t.match(await api.get(id), {
    affinityHost: host.id,
    startDelay: 5,
    coresPerSocket: 2,
    blockedOperations: { destroy: "kept" },
    auto_poweron: true,
    secureBoot: true,
    cpuWeight: 512,
  });
  t.match(await disksOf(id), [
    { name_label: "one", size: 4 * GiB },
    { name_label: "two", size: GiB },
  ]);
  t.match(await cardsOf(id), [
    {
      MAC: "02:00:00:00:00:07",
      lockingMode: "locked",
      allowedIpv4Addresses: ["192.0.2.7"],
    },
    { $network: networks[1]!.id, lockingMode: "network_default" },
  ]);
  const [cd] = await api.all({ type: "VBD", VM: id, is_cd_drive: true });
  t.match(cd, { VDI: iso.id, position: "3" });
  t.match(await api.get(pool.id), { auto_poweron: true });
  await api.request("vm.delete", { id, force: true });
  t.match(await api.get(iso.id), { type: "VDI" }, "the image stays");
}

async function overRest(
  t: Test,
  { pool, debian, network, taskOf, api, disksOf, cardsOf }: CreationBench,
) {
  const path = `/pools/${pool.id}/actions/create_vm`;
  const body = {
    name_label: "rest",
    template: debian["uuid"],
    memory: GiB,
    cpus: 1,
    autoPoweron: false,
    boot: true,
    vifs: [{ network: network.id, ipv4_allowed: ["192.0.2.8"] }],
  };
  const { status, result } = await taskOf(await api.rest("POST", path, body));
  t.equal(status, "success");
  const { id } = result;
  t.match(await (await api.rest("GET", `/vms/${id}`)).json(), {
    name_label: "rest",
    power_state: "Running",
    creation: { template: debian["uuid"] },
  });
  t.match(await disksOf(id), [{ position: "0", size: 10 * GiB }]);
  t.match(await cardsOf(id), [{ allowedIpv4Addresses: ["192.0.2.8"] }]);
  const answer = await api.rest("DELETE", `/vms/${id}`);
  t.equal(answer.status, 204, "although it runs");
  t.equal((await api.rest("GET", `/vms/${id}`)).status, 404);
  t.same(await disksOf(id), []);

  const made = await api.rest("POST", `${path}?sync=true`, {
    name_label: "sync",
    template: debian.id,
    vdis: [],
  });
  t.equal(made.status, 201);
  const created = (await made.json()) as { id: string };
  t.equal(made.headers.get("location"), `/rest/v0/vms/${created.id}`);
  t.same(await disksOf(created.id), []);
  await api.request("vm.delete", { id: created.id });
  const refused = [
    [{ template: "00000000-0000-4000-8000-000000000000" }, 404],
    [{ template: debian.id, CPUs: 1 }, 422],
    [{ template: debian.id, vdis: [{ size: 1, sr: network.id }] }, 404],
  ] as const;
  for (const [more, status] of refused) {
    const answer = await api.rest("POST", path, {
      name_label: "x",
      ...more,
    });
    t.equal(answer.status, status, await answer.text());
  }
}

/** Creates a VM with interfaces. @returns its id */
async function createByRest(
  { api, pool }: CreationBench,
  template: string,
  vifs: readonly object[],
): Promise<string> {
  const path = `/pools/${pool.id}/actions/create_vm?sync=true`;
  const body = { name_label: "vifs", template, clone: false, vifs };
  const answer = await api.rest("POST", path, body);
  return ((await answer.json()) as { id: string }).id;
}

async function fromTemplateWithDisks(t: Test, bench: CreationBench) {
  const { api, terraform, sr, network, networks } = bench;
  const { counts, srs, one, disksOf, cardsOf } = bench;
  const source = (await api.request(
    "vm.create",
    terraform({
      name_label: "golden",
      VDIs: [GiB, 2 * GiB, 3 * GiB].map((size, i) => ({
        SR: sr.id,
        size,
        name_label: `golden ${i}`,
      })),
      VIFs: [{ network: network.id }, { network: network.id }],
    }),
  )) as string;
  await api.request("vm.convertToTemplate", { id: source });
  t.match(await api.get(source), { type: "VM-template" });
  const before = await counts();
  for (const [VDIs, reason] of [
    [[{ userdevice: "1", size: GiB }], /shrink/],
    [[{ SR: sr.id }], /no size/],
    [[{ userdevice: "0" }, { userdevice: 0 }], /twice/],
  ] as const)
    t.match(
      await api.call("vm.create", terraform({ template: source, VDIs })),
      { error: { code: 10, data: { reason } } },
    );
  t.same(await counts(), before);

  const other = srs[1] ?? (await one({ type: "SR", shared: false }));
  const id = (await api.request(
    "vm.create",
    terraform({
      template: source,
      VDIs: [
        { userdevice: "0", name_label: "moved", SR: other.id, size: 5 * GiB },
        { userdevice: "1", destroy: true },
        { SR: sr.id, size: GiB, name_label: "added" },
      ],
      existingDisks: { 2: { name_label: "third", $SR: sr.id } },
    }),
  )) as string;
  t.match(await disksOf(id), [
    { position: "0", name_label: "moved", $SR: other.id, size: 5 * GiB },
    { position: "1", name_label: "added" },
    { position: "2", name_label: "third", size: 3 * GiB, $SR: sr.id },
  ]);
  t.equal((await cardsOf(id)).length, 1, "in place of the template's");
  t.match(await api.get(id), { creation: { template: source } });

  const beside = await createByRest(bench, source, [
    { network: networks[1]!.id },
  ]);
  t.match(await cardsOf(beside), [
    { device: "0" },
    { device: "1" },
    { $network: networks[1]!.id },
  ]);
  const replaced = await createByRest(bench, source, [
    { device: "0", network: networks[1]!.id },
    { device: "1", destroy: true },
  ]);
  t.match(await cardsOf(replaced), [{ $network: networks[1]!.id }]);
  for (const made of [id, beside, replaced])
    await api.request("vm.delete", { id: made });
  t.same(await counts(), before, "its disks went with it");
  const gone = await api.rest("DELETE", `/vm-templates/${source}`);
  t.equal(gone.status, 204);
}

async function withConfigDrive(
  t: Test,
  { api, terraform, disksOf, sr, debian }: CreationBench,
) {
  const config = {
    cloudConfig: "#cloud-config\nhostname: x\n",
    networkConfig: "version: 2\n",
  };
  const id = (await api.request("vm.create", terraform(config))) as string;
  const drive = (await disksOf(id)).at(-1)!;
  t.match(drive, {
    name_label: "XO CloudConfigDrive",
    $SR: sr.id,
    size: 4 * 2 ** 20,
  });
  await api.request("vm.delete", { id });
  t.same(await api.all({ id: drive.id }), []);

  const more = { ...config, destroyCloudConfigVdiAfterBoot: true };
  t.match(await api.call("vm.create", terraform(more)), {
    error: { code: 10, data: { reason: /bootAfterCreate/ } },
  });
  const booted = (await api.request(
    "vm.create",
    terraform({ ...more, template: debian.id, bootAfterCreate: true }),
  )) as string;
  t.match(await api.get(booted), { power_state: "Running" });
  for (let tries = 0; tries < 150; tries++)
    if ((await disksOf(booted)).length > 1) await sleep(200);
  t.equal((await disksOf(booted)).length, 1);
  await api.request("vm.delete", { id: booted });
}

async function refusedCreations(
  t: Test,
  { counts, api, terraform, pool, debian, sr }: CreationBench,
) {
  const before = await counts();
  const memory = { memoryMax: 2 ** 46, memoryStaticMax: 2 ** 46 };
  const answer = await api.call(
    "vm.create",
    terraform({ ...memory, bootAfterCreate: true, cloudConfig: "x" }),
  );
  t.match(answer, { error: { code: 7, message: "no hosts available" } });
  // A failure does not wait until its traces are deleted from the mirror too.
  for (let tries = 0; tries < 50; tries++)
    if (String(await counts()) !== String(before)) await sleep(100);
  t.same(await counts(), before);
  const path = `/pools/${pool.id}/actions/create_vm`;
  const begun = await api.rest("POST", path, {
    name_label: "given up",
    template: debian.id,
    vdis: Array.from({ length: 20 }, () => ({ sr: sr.id, size: GiB })),
  });
  const { taskId } = (await begun.json()) as { taskId: string };
  await api.rest("POST", `/tasks/${taskId}/actions/abort`);
  const task = await api.rest("GET", `/tasks/${taskId}?wait=true`);
  t.match(await task.json(), { status: /^(failure|interrupted)$/ });
  for (let tries = 0; tries < 50; tries++)
    if (String(await counts()) !== String(before)) await sleep(100);
  t.same(await counts(), before, "given up on the way");
  t.match(await api.call("vm.create", terraform({ resourceSet: "none" })), {
    error: { code: 1 },
  });
}
