import { randomBytes } from "node:crypto";
import { request } from "node:http";
import {
  manifestOf,
  ovaOf,
  ovfOf,
  streamOptimized,
} from "@xo-server/backup/test/foreign-fixtures.js";
import t from "tap";
import { startStorageBench, type Row } from "./storage-bench.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 120_000 };
t.comment("timeout=120000");

const MiB = 2 ** 20;

/** Data in the middle and at the end, zeros elsewhere. */
function newDisk(size: number): Buffer {
  const bytes = Buffer.alloc(size);
  randomBytes(MiB).copy(bytes, 2 * MiB);
  bytes.fill(7, size - 512);
  return bytes;
}

const system = newDisk(8 * MiB);
const data = newDisk(6 * MiB);
const networks = ["VM Network", "Storage & backup"];
const descriptor = (name: string) =>
  ovfOf({
    name,
    disks: [
      { id: "system", size: system.length, file: "vm-disk1.vmdk" },
      { id: "data", size: data.length, file: "vm-disk2.vmdk" },
    ],
    networks: networks.map((one) => one.replace("&", "&amp;")),
    config: { firmware: "efi" },
  });
const filesOf = (name: string) => ({
  "vm.ovf": descriptor(name),
  "vm-disk1.vmdk": streamOptimized(system),
  "vm-disk2.vmdk": streamOptimized(data),
});

t.test("an OVA becomes a VM", LIMIT, async (t) => {
  const bench = await startStorageBench(t);
  const { admin, list, url, untilGone } = bench;
  const [sr] = await list("srs", "SR_type:nfs");
  const [pool] = await list("pools");
  const [network, other] = await list("networks");
  const send = (
    body: Buffer,
    query: Readonly<Record<string, string | string[]>> = {},
    operator = admin,
  ) => {
    const search = new URLSearchParams({ sr: sr!.id });
    for (const [name, values] of Object.entries(query))
      for (const value of [values].flat()) search.append(name, value);
    return operator.fetch(`/pools/${pool!.id}/vms?${search}`, {
      method: "POST",
      body: new Uint8Array(body),
      headers: { "content-type": "application/octet-stream" },
    });
  };
  /** The VM, its disks by their place, and the networks of its VIFs. */
  const read = async (id: string) => {
    const vm = (await admin.rest("GET", `/vms/${id}`)).body as Row;
    const disks: Buffer[] = [];
    for (const vbd of await list("vbds", `VM:${id}`)) {
      if (vbd["is_cd_drive"] === true) continue;
      const answer = await admin.fetch(`/vdis/${String(vbd["VDI"])}.raw`);
      disks[Number(vbd["position"])] = Buffer.from(await answer.arrayBuffer());
    }
    const vifs = await list("vifs", `$VM:${id}`);
    const sorted = vifs.toSorted(
      (a, b) => Number(a["device"]) - Number(b["device"]),
    );
    return { vm, disks, networks: sorted.map((vif) => vif["$network"]) };
  };

  t.test("with its disks, its hardware and the chosen networks", async (t) => {
    const name = "Web & mail";
    const files = filesOf(name);
    const ova = ovaOf({ ...files, "vm.mf": manifestOf(files) });
    const created = await send(ova, {
      networks: [
        `${networks[0]}=${network!.id}`,
        `${networks[1]}=${other!.id}`,
      ],
    });
    t.equal(created.status, 201, await created.clone().text());
    const { id } = (await created.json()) as Row;
    const { vm, disks, networks: vifs } = await read(id);
    t.match(vm, {
      name_label: name,
      name_description: "Serves <things>",
      power_state: "Halted",
      CPUs: { max: 4 },
      memory: { static: [2048 * MiB, 2048 * MiB] },
      boot: { firmware: "uefi" },
      $poolId: pool!.id,
    });
    t.ok(disks[0]!.equals(system), "the first disk");
    t.ok(disks[1]!.equals(data), "the second disk");
    t.same(vifs, [network!.id, other!.id]);
    const tasks = await list("tasks", '"Import of a VM"');
    t.match(tasks, [{ status: "success" }]);
  });

  t.test("as JSON-RPC clients import it", async (t) => {
    const { $sendTo } = await admin.request<{ $sendTo: string }>("vm.import", {
      sr: sr!.id,
      type: "ova",
      data: { nameLabel: "renamed", nCpus: 2, networks: [network!.id] },
    });
    const answer = await fetch(`${url}${$sendTo}`, {
      method: "POST",
      body: new Uint8Array(ovaOf(filesOf("by JSON-RPC"))),
    });
    t.equal(answer.status, 200, await answer.clone().text());
    const { result } = (await answer.json()) as { result: string };
    const { vm, networks: vifs } = await read(result);
    t.match(vm, { name_label: "renamed", CPUs: { max: 2 } });
    t.same(vifs, [network!.id, network!.id], "one network is that of all NICs");
  });

  t.test(
    "a failure deletes what was created and reports the reason",
    async (t) => {
      const before = (await list("vdis")).length;
      const files = filesOf("bad");
      const network0 = { networks: network!.id };
      const wrong = manifestOf(files).replace(/[0-9a-f]{8}\n$/, "00000000\n");
      const whole = ovaOf(files);
      const cases: [string, Buffer, object, RegExp][] = [
        ["no networks", whole, {}, /VM Network.*Storage & backup/],
        [
          "one network of two",
          whole,
          { networks: `VM Network=${network!.id}` },
          /for .*Storage & backup/,
        ],
        [
          "another checksum",
          ovaOf({ ...files, "vm.mf": wrong }),
          network0,
          /does not match its checksum/,
        ],
        ["cut", whole.subarray(0, -100_000), network0, /the stream ends after/],
        [
          "no OVA",
          Buffer.alloc(4096, "x"),
          { ...network0, format: "ova" },
          /not a valid OVA file/,
        ],
      ];
      for (const [what, body, query, reason] of cases) {
        const answer = await send(body, query as Record<string, string>);
        t.equal(answer.status, 422, what);
        t.match(await answer.text(), reason, what);
      }
      await untilGone("vms", "name_label:/^bad$/");
      while ((await list("vdis")).length > before) continue;
      t.pass("no disks stay");
    },
  );

  t.test("a VM whose VIFs cannot be created is deleted", async (t) => {
    await fetch(`${bench.pool.url}/sim/fail`, {
      method: "POST",
      body: JSON.stringify({
        method: "VIF.create",
        error: "INVALID_VALUE",
        params: ["network", "x"],
      }),
    });
    const answer = await send(ovaOf(filesOf("half")), {
      networks: network!.id,
    });
    t.equal(answer.status >= 400, true, String(answer.status));
    await untilGone("vms", "name_label:/^half$/");
    await untilGone("vdis", "name_label:/^half /");
    await fetch(`${bench.pool.url}/sim/fail`, {
      method: "POST",
      body: JSON.stringify({ clear: true }),
    });
  });

  t.test("an aborted upload leaves nothing behind", async (t) => {
    const ova = ovaOf(filesOf("cut"));
    const query = new URLSearchParams({ sr: sr!.id, networks: network!.id });
    const upload = request(`${url}/rest/v0/pools/${pool!.id}/vms?${query}`, {
      method: "POST",
      headers: {
        cookie: admin.cookie,
        "content-type": "application/octet-stream",
        "content-length": ova.length,
      },
    });
    upload.on("error", () => undefined);
    upload.write(ova.subarray(0, 1_000_000));
    while ((await list("vms", "name_label:/^cut$/")).length === 0) continue;
    t.pass("it is there while it is being filled");
    upload.destroy();
    await untilGone("vms", "name_label:/^cut$/");
    await untilGone("vdis", "name_label:/^cut /");
  });

  t.test("networks need a right", async (t) => {
    const user = await bench.addUser("ova", {});
    const users = await admin.request<Row[]>("user.getAll");
    const roleId = await admin.request("role.create", { name: "importer" });
    for (const privilege of [
      { resource: "pool", action: "read" },
      { resource: "pool", action: "administrate:import-vm" },
      { resource: "SR", action: "read" },
      { resource: "SR", action: "administrate:create-vdi" },
      { resource: "network", action: "read" },
    ])
      await admin.request("privilege.create", {
        roleId,
        effect: "allow",
        ...privilege,
      });
    const { id } = users.find(({ email }) => email === "ova")!;
    await admin.request("role.addToUser", { id: roleId, userId: id });
    const answer = await send(
      ovaOf(filesOf("refused")),
      { networks: network!.id },
      user,
    );
    const body = await answer.text();
    t.equal(answer.status, 403);
    t.match(body, /operate:attach.*network/);
  });
});
