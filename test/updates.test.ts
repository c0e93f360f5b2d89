import t from "tap";
import type { Simulated } from "./simulated.js";
import { startStorageBench, type StorageBench } from "./storage-bench.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=480000");

const SIZE = ["--hosts", "2", "--vms", "2", "--seed", "3", "--pace", "0.02"];

interface Patch {
  readonly id: string;
  readonly name: string;
  readonly after: string;
}

async function control(
  { url }: Simulated,
  path: string,
  body: object,
): Promise<void> {
  const answer = await fetch(`${url}/sim/${path}`, {
    method: "POST",
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(await answer.text());
}

async function hostsOf({ list }: StorageBench) {
  const [pool] = await list("pools");
  const hosts = await list("hosts");
  const master = hosts.find(({ id }) => id === pool!["master"])!;
  const other = hosts.find(({ id }) => id !== pool!["master"])!;
  return { pool: pool!, master, other };
}

t.test("XCP-ng: updates are listed, installed, compared", LIMIT, async (t) => {
  const bench = await startStorageBench(t, ...SIZE);
  const { admin, pool: simulated } = bench;
  const { pool, master, other } = await hostsOf(bench);
  const list = (host: string): Promise<Patch[]> =>
    admin.request("pool.listMissingPatches", { host });
  const patches = await list(master.id);
  t.match(
    patches.find(({ name }) => name === "xen-hypervisor"),
    {
      id: "xen-hypervisor-4.17.5-23.1",
      version: "4.17.5",
      release: "23.1",
      after: "reboot-host",
      isSecurity: true,
      advisories: ["XSA-476", "CVE-2026-27466"],
      changelog: { author: String, date: Number, description: String },
    },
  );
  t.match(Object.fromEntries(patches.map(({ name, after }) => [name, after])), {
    "openssl-libs": "restart-toolstack",
    qemu: "restart-device-model",
    "xapi-core": "restart-toolstack",
    "xcp-ng-pv-tools": "reboot-vm",
  });
  await control(simulated, "fail", {
    method: "host.call_plugin/updater.py/check_update",
    error: "-1",
    params: ["requested again"],
  });
  t.same(await list(master.id), patches, "not requested twice in ten minutes");
  await control(simulated, "fail", { clear: true });

  await control(simulated, "fail", {
    method: "host.call_plugin/updater.py/update",
    error: "-1",
    params: ["Error: No space left on device", "", "Traceback"],
  });
  const host = master.id;
  t.match(await admin.call("pool.installPatches", { hosts: [host] }), {
    error: { message: /No space left/ },
  });
  const some = { hosts: [host], patches: ["qemu-4.2.1-5.2.15"] };
  await admin.request("pool.installPatches", some);
  t.notOk((await list(host)).some(({ name }) => name === "qemu"));
  const pair = { source: host, target: other.id };
  t.same(await admin.request("pool.getPatchesDifference", pair), ["qemu"]);

  await admin.request("pool.installPatches", { pool: pool.id });
  t.same(await list(host), []);
  t.same(await list(other.id), []);
  const [installed] = await bench.list("hosts", `id:${host}`);
  t.equal(installed!["rebootRequired"], true);
  t.match(await admin.request("pool.getPatchState", { id: pool.id }), {
    hosts: [
      { missing: 0, version: /xapi 25/ },
      { missing: 0, after: "nothing" },
    ],
    differ: false,
  });
  const viewer = await bench.addUser("eve", { [pool.id]: "viewer" });
  t.match(await viewer.call("pool.installPatches", { hosts: [host] }), {
    error: { code: 2 },
  });
});

t.test("XenServer 8: synchronised updates are installed", LIMIT, async (t) => {
  const system = ["--system", "xenserver-8"];
  const bench = await startStorageBench(t, ...SIZE, ...system);
  const { admin } = bench;
  const { pool, master } = await hostsOf(bench);
  const path = `/pools/${pool.id}/missing_patches`;
  const patches = (await admin.rest("GET", path)).body as Patch[];
  t.match(
    patches.find(({ id }) => id.startsWith("kernel")),
    { after: "reboot-host", isSecurity: true, advisories: ["CVE-2026-31011"] },
  );
  await admin.request("pool.installPatches", { hosts: [master.id] });
  const left = await admin.rest("GET", `/hosts/${master.id}/missing_patches`);
  t.same(left.body, []);
  const reboot = { rebootRequired: true, pendingGuidances: ["reboot_host"] };
  t.match(await bench.list("hosts", `id:${master.id}`), [reboot]);
});

t.test("XenServer 7: a pack is uploaded and installed", LIMIT, async (t) => {
  const system = ["--system", "xenserver-7"];
  const bench = await startStorageBench(t, ...SIZE, ...system);
  const { admin } = bench;
  const { pool, master, other } = await hostsOf(bench);
  const upload = async (
    operation: string,
    params: object,
    body: Buffer<ArrayBuffer>,
  ) => {
    const { $sendTo } = await admin.request<{ $sendTo: string }>(
      operation,
      params,
    );
    const url = new URL($sendTo, bench.url);
    return fetch(url, { method: "POST", body });
  };
  const bytes = Buffer.alloc(2 * 2 ** 20);
  for (const [operation, params] of [
    ["host.installSupplementalPack", { host: master.id }],
    ["pool.installSupplementalPack", { pool: pool.id }],
  ] as const) {
    const refused = await upload(operation, params, bytes);
    t.equal(
      refused.status,
      422,
      `${operation} of a file that is not an update`,
    );
    t.match(await refused.json(), {
      error:
        /^the pool refused the file: INVALID_UPDATE.*update\.xml is missing/,
      data: { code: "INVALID_UPDATE", params: ["update.xml is missing"] },
    });
  }
  bytes.write(
    '<update name-label="XS71E001" uuid="11111111-2222-3333-4444-555555555555" version="1.0" installation-size="1048576" after-apply-guidance="restartHost"/>',
  );
  const host = { host: master.id };
  const sent = await upload("host.installSupplementalPack", host, bytes);
  t.ok(sent.ok, await sent.text());
  const again = await upload("host.installSupplementalPack", host, bytes);
  t.equal(again.status, 422);
  t.match(await again.json(), { data: { code: "UPDATE_ALREADY_EXISTS" } });
  const list = (host: string) =>
    admin.request("pool.listMissingPatches", { host });
  t.same(await list(master.id), []);
  t.match(await list(other.id), [
    { name: "XS71E001", after: "reboot-host", version: "1.0" },
  ]);
  await admin.request("pool.installPatches", { pool: pool.id });
  t.same(await list(other.id), []);
});
