import { randomBytes } from "node:crypto";
import t from "tap";
import { startStorageBench, type Row } from "./storage-bench.js";
import { noVcsim as skip, startVcsim } from "./vcsim.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 120_000 };
t.comment("timeout=120000");

const MiB = 2 ** 20;
const GiB = 2 ** 30;
/** Data, zeros, data. */
const start = Buffer.concat([
  randomBytes(MiB + 512),
  Buffer.alloc(5 * MiB - 512),
  randomBytes(2 * MiB),
]);

/** The start is a flat file, the rest of 10 GiB are zeros. */
const descriptor = `# Disk DescriptorFile
version=1
CID=fffffffe
parentCID=ffffffff
createType="vmfs"

# Extent description
RW ${start.length / 512} VMFS "disk1-flat.vmdk"
RW ${(10 * GiB - start.length) / 512} ZERO
`;

interface Listed extends Row {
  readonly name: string;
  readonly powerState: string;
}

t.test("VMs of a vCenter are imported", { skip, ...LIMIT }, async (t) => {
  const bench = await startStorageBench(t);
  const { admin, list, untilGone } = bench;
  const [sr] = await list("srs", "SR_type:nfs");
  const [network] = await list("networks");
  const vcenter = await startVcsim(t, "-vm", "3");
  const connection = {
    host: vcenter.host,
    user: "user",
    password: "the password",
    fingerprint: vcenter.fingerprint,
  };
  for (const vm of ["DC0_H0_VM0", "DC0_H0_VM1"]) {
    await vcenter.put(`${vm}/disk1.vmdk`, descriptor);
    await vcenter.put(`${vm}/disk1-flat.vmdk`, start);
  }
  const vms = await admin.request<Listed[]>("esxi.listVms", connection);
  const idOf = (name: string) => vms.find((vm) => vm.name === name)!.id;
  const target = { sr: sr!.id, network: network!.id };

  t.test("they are listed with what decides about an import", async (t) => {
    t.match(
      vms.find(({ name }) => name === "DC0_H0_VM0"),
      {
        powerState: "poweredOn",
        vcpus: 1,
        memory: 32 * MiB,
        firmware: "bios",
        guestOs: "otherGuest",
        hasSnapshots: false,
        disks: [{ name: "disk-202-0", size: 10 * GiB, datastore: "LocalDS_0" }],
        networks: [{ name: "DC0_DVPG0", mac: /^00:0c:29/ }],
        obstacle: undefined,
      },
    );
  });

  t.test("a certificate that is not trusted is refused", async (t) => {
    const { fingerprint, ...unpinned } = connection;
    const answers = [
      await admin.call("esxi.listVms", unpinned),
      await admin.call("esxi.listVms", {
        ...unpinned,
        fingerprint: fingerprint.replace(/^../, "00"),
      }),
    ];
    for (const { error } of answers) {
      const text = JSON.stringify(error);
      t.match(text, /IMPORT_SOURCE_FAILED|certificate/);
      t.notMatch(text, /the password/);
    }
    const { error } = await admin.call("esxi.listVms", {
      ...unpinned,
      sslVerify: false,
    });
    t.equal(error, undefined, "unless any is accepted");
  });

  t.test("a VM that runs is refused, or stopped", async (t) => {
    const vm = idOf("DC0_H0_VM0");
    const order = { ...connection, ...target, vm };
    const { error } = await admin.call("vm.importFromEsxi", order);
    t.match(JSON.stringify(error), /shut it down first.*stopSource/);
    await untilGone("vms", "name_label:/^DC0_H0_VM0$/");

    const id = await admin.request<string>("vm.importFromEsxi", {
      ...order,
      stopSource: true,
    });
    const { body } = await admin.rest("GET", `/vms/${id}`);
    t.match(body, {
      name_label: "DC0_H0_VM0",
      power_state: "Halted",
      memory: { static: [32 * MiB, 32 * MiB] },
      boot: { firmware: "bios" },
    });
    const [vif] = await list("vifs", `$VM:${id}`);
    t.match(vif, { $network: network!.id, MAC: /^00:0c:29/ });
    const disks = (await list("vbds", `VM:${id}`)).filter(
      (vbd) => vbd["is_cd_drive"] === false,
    );
    t.equal(disks.length, 1);
    const vdi = String(disks[0]!["VDI"]);
    t.match((await admin.rest("GET", `/vdis/${vdi}`)).body, {
      size: 10 * GiB,
    });
    t.ok(
      (await readStart(await admin.fetch(`/vdis/${vdi}.raw`))).equals(
        Buffer.concat([start, Buffer.alloc(MiB)]),
      ),
      "the disk has the bytes of the source",
    );
    const again = await admin.request<Listed[]>("esxi.listVms", connection);
    t.match(
      again.find((one) => one.id === vm),
      { powerState: "poweredOff" },
    );
    const tasks = await list("tasks", '"Import of a VM of"');
    t.ok(tasks.some(({ status }) => status === "success"));
    t.notMatch(JSON.stringify(tasks), /the password/);
  });

  t.test(
    "of several VMs, one that fails is not one of the others",
    async (t) => {
      const good = idOf("DC0_H0_VM1");
      const bad = idOf("DC0_H0_VM2");
      const { created, failed } = await admin.request<{
        created: Record<string, string>;
        failed: Record<string, string>;
      }>("vm.importMultipleFromEsxi", {
        ...connection,
        ...target,
        vms: [bad, good],
        stopSource: true,
      });
      t.same(Object.keys(created), [good]);
      t.match(failed, { [bad]: /no descriptor of a disk/ });
      t.equal((await list("vms", "name_label:/^DC0_H0_VM1$/")).length, 1);
      await untilGone("vms", "name_label:/^DC0_H0_VM2$/");
      await untilGone("vdis", "name_label:/^DC0_H0_VM2 /");
    },
  );

  t.test("only administrators reach other hosts", async (t) => {
    const user = await bench.addUser("operator", { [sr!.id]: "admin" });
    for (const [method, params] of [
      ["esxi.listVms", {}],
      ["vm.importFromEsxi", { ...target, vm: "vm-1" }],
      ["vm.importMultipleFromEsxi", { ...target, vms: ["vm-1"] }],
    ] as const) {
      const { error } = await user.call(method, { ...connection, ...params });
      t.equal(error?.code, 2, method);
    }
  });

  t.test("the audit log has no password", async (t) => {
    const log = await admin.call("audit.getRecords", {});
    t.match(JSON.stringify(log), /vm\.importFromEsxi/);
    t.notMatch(JSON.stringify(log), /the password/);
  });
});

/** The first bytes of a disk. */
async function readStart({ body }: Response): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  const needed = start.length + MiB;
  let size = 0;
  for await (const bytes of body as unknown as AsyncIterable<Uint8Array>) {
    parts.push(bytes);
    size += bytes.length;
    if (size >= needed) break;
  }
  return Buffer.concat(parts).subarray(0, needed);
}
