import t from "tap";
import { ApiSession, startOver, type Thing } from "./api-session.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 300_000 };
t.comment("timeout=300000");

const GiB = 2 ** 30;

/**
 * May read everything and do everything with VMs and templates, but nothing with
 * objects that they would use.
 */
const privileges = [
  { resource: "*", action: "read" },
  ...["VM", "VM-template", "VM-snapshot"].map((resource) => ({
    resource,
    action: "*",
  })),
];

t.test(
  "the right to operate VMs does not include bulk use of others",
  LIMIT,
  async (t) => {
    const { url } = await startOver(t, ["--hosts", "2", "--vms", "6"]);
    const admin = await ApiSession.open(t, url);
    const roles = (await admin.request("role.list")) as {
      id: string;
      name: string;
    }[];
    const viewer = roles.find(({ name }) => name === "viewer")!.id;
    const { id: eveId, session: eve } = await admin.signUp(t, "eve", {
      privileges,
    });
    const { session: bob } = await admin.signUp(t, "bob");
    const { session: reader } = await admin.signUp(t, "reader", {
      roles: [viewer],
    });

    const one = async (filter: object) => (await admin.all(filter))[0] as Thing;
    const name_label = "Other install media";
    const template = (await one({ type: "VM-template", name_label })).id;
    const sr = (await one({ type: "SR", shared: true, content_type: "user" }))
      .id;
    const network = (await one({ type: "network" })).id;
    const vms = (await admin.all({ type: "VM" })) as readonly Thing[];
    const id = vms.find(({ power_state }) => power_state === "Halted")!.id;
    const host = (await one({ type: "host" })).id;
    const { id: pci } = await one({ type: "PCI" });
    const disk = { name: "spare", size: GiB, sr };
    const vdi = (await admin.request("disk.create", disk)) as string;
    const snapshot = (await admin.request("vm.snapshot", { id })) as string;

    const uses = usesOf({ id, host, sr, network, vdi, pci, template });
    const count = async () => (await admin.all({ type: "VM" })).length;
    const before = await count();

    await t.test("a right on each object used is required", async (t) => {
      for (const [used, method, params] of uses)
        t.match(
          await eve.call(method, params),
          { error: { code: 2, data: { object: { id: used } } } },
          `${method} ${JSON.stringify(params)}`,
        );
      t.equal(await count(), before);
    });

    /** Calls by what a right is needed for first. */
    const calls: readonly (readonly [string, object])[] = [
      ...uses.map(([, method, params]) => [method, params] as const),
      ["vm.create", { name_label: "x", template }],
      ["vm.set", { id, name_label: "x" }],
      ["vm.setAndRestart", { id, name_label: "x" }],
      ["vm.setBootOrder", { vm: id, order: "c" }],
      ["vm.delete", { id }],
      ["vm.delete", { id: template }],
      ["vm.delete", { id: snapshot }],
      ["vm.clone", { id, name: "x", full_copy: true }],
      ["vm.copyToTemplate", { id }],
      ["vm.convertToTemplate", { id }],
      ["vm.snapshot", { id }],
      ["vm.revert", { snapshot }],
      ["vm.revertSnapshot", { id, snapshot }],
      ["vm.insertCd", { id, cd_id: vdi }],
      ["vm.ejectCd", { id }],
      ["vm.detachPcis", { id, pciIds: ["x"] }],
      ["vm.recoveryStart", { id }],
      ["vm.coalesceLeaf", { id }],
    ];

    await t.test("a read-only user changes nothing", async (t) => {
      for (const [method, params] of calls)
        t.match(
          await reader.call(method, params),
          { error: { code: 2 } },
          method,
        );
    });

    await t.test("hidden objects do not exist for the user", async (t) => {
      for (const [method, params] of calls)
        t.match(await bob.call(method, params), { error: { code: 1 } }, method);
    });

    await t.test("REST refuses the same immediately", async (t) => {
      const pool = (await one({ type: "pool" })).id;
      const body = { name_label: "x", template, vifs: [{ network }] };
      const path = `/pools/${pool}/actions/create_vm`;
      for (const [who, method, route, body_, status] of [
        [eve, "POST", path, body, 403],
        [reader, "POST", path, body, 403],
        [reader, "DELETE", `/vms/${id}`, undefined, 403],
        [reader, "PATCH", `/vms/${id}`, { nameLabel: "x" }, 403],
        [reader, "DELETE", `/vm-snapshots/${snapshot}`, undefined, 403],
        [eve, "POST", `/vms/${id}/actions/migrate`, { hostId: host }, 403],
        [eve, "POST", `/vms/${id}/actions/clone`, { srId: sr }, 403],
        [eve, "POST", `/vms/${id}/actions/start`, { hostId: host }, 403],
      ] as const) {
        const answer = await who.rest(method, route, body_);
        t.equal(answer.status, status, `${method} ${route}`);
      }
      t.equal(await count(), before);
    });

    await t.test("with the right it is accepted", async (t) => {
      t.ok(
        await eve.request("vm.create", { name_label: "x", template, VDIs: [] }),
      );
      await admin.allow(
        eveId,
        ["SR", "network"].map((resource) => ({ resource, action: "operate" })),
      );
      const created = (await eve.request("vm.create", {
        name_label: "mine",
        template,
        VDIs: [{ SR: sr, size: GiB }],
        VIFs: [{ network }],
      })) as string;
      t.match(await eve.get(created), { name_label: "mine" });
      t.ok(await eve.request("vm.delete", { id: created }));
    });
  },
);

/** Calls by what they use beside the VM. */
function usesOf(
  ids: Readonly<
    Record<
      "id" | "host" | "sr" | "network" | "vdi" | "pci" | "template",
      string
    >
  >,
): readonly (readonly [used: string, method: string, params: object])[] {
  const { id, host, sr, network, vdi, pci, template } = ids;
  return [
    [host, "vm.start", { id, host }],
    [host, "vm.set", { id, affinityHost: host }],
    [sr, "vm.set", { id, suspendSr: sr }],
    [sr, "vm.copy", { vm: id, sr }],
    [sr, "vm.clone", { id, name: "x", sr }],
    [host, "vm.migrate", { vm: id, targetHost: host }],
    [network, "vm.createInterface", { vm: id, network }],
    [vdi, "vm.attachDisk", { vm: id, vdi }],
    [sr, "vm.createCloudInitConfigDrive", { vm: id, sr, config: "x" }],
    [pci, "vm.attachPcis", { id, pcis: [pci] }],
    ...(
      [
        [sr, { VDIs: [{ SR: sr, size: GiB }] }],
        [network, { VDIs: [], VIFs: [{ network }] }],
        [host, { VDIs: [], affinityHost: host }],
        [sr, { VDIs: [], suspendSr: sr }],
      ] as const
    ).map(
      ([used, more]) =>
        [used, "vm.create", { name_label: "x", template, ...more }] as const,
    ),
  ];
}
