import t from "tap";
import { startStorageBench, type Row } from "./storage-bench.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 120_000 };
t.comment("timeout=120000");

t.test("fields, tags, messages and devices", LIMIT, async (t) => {
  const bench = await startStorageBench(t, "--pace", "0.1");
  const { admin, list } = bench;
  const [vm] = await list("vms", "power_state:Halted !needsVtpm?");
  const [running] = await list("vms", "power_state:Running");
  const [host] = await list("hosts");
  const [network] = await list("networks");
  const [sr] = await list("srs", "SR_type:nfs");
  const [pci] = await list("pcis");
  const [message] = await list("messages");
  const objects = await admin.request<Record<string, Row>>(
    "xo.getAllObjects",
    {},
  );
  const pusb = Object.values(objects).find((one) => one["type"] === "PUSB");
  const group = Object.values(objects).find(
    (one) => one["type"] === "USB_group",
  );
  const one = async (folder: string, id: string) =>
    (await admin.rest("GET", `/${folder}/${id}`)).body as unknown as Row;

  t.test("fields of objects", async (t) => {
    const places = [
      ["vms", vm!.id, "other"],
      ["hosts", host!.id, "otherConfig"],
      ["networks", network!.id, "other_config"],
    ] as const;
    const name = "rack";
    const key = `XenCenter.CustomFields.${name}`;
    for (const [folder, id, place] of places) {
      const value = async () =>
        ((await one(folder, id))[place] as Record<string, string>)[key];
      await admin.request("customField.add", { id, name, value: "A1" });
      t.equal(await value(), "A1");
      t.match(await admin.call("customField.add", { id, name, value: "A2" }), {
        error: { code: 16 },
      });
      await admin.request("customField.set", { id, name, value: "A3" });
      t.equal(await value(), "A3");
      await admin.request("customField.remove", { id, name });
      t.equal(await value(), undefined);
    }
    t.match(
      await admin.call("customField.set", {
        id: message!.id,
        name,
        value: "x",
      }),
      { error: { data: { code: "UNSUPPORTED" } } },
    );
  });

  t.test("colours of tags", async (t) => {
    t.same(await admin.request("tag.getAllConfigured"), []);
    await admin.request("tag.set", { id: "prod", color: "#aa0000" });
    t.same(await admin.request("tag.getAllConfigured"), [
      { id: "prod", color: "#aa0000" },
    ]);
    t.match(await admin.call("tag.set", { id: "prod", color: "red;" }), {
      error: { code: 10 },
    });
    await admin.request("tag.set", { id: "prod" });
    t.same(await admin.request("tag.getAllConfigured"), []);
  });

  t.test("messages go", async () => {
    await admin.request("message.delete", { id: message!.id });
    await bench.untilGone("messages", `id:${message!.id}`);
  });

  t.test("VMs get devices", async (t) => {
    const vtpm = await admin.request<string>("vtpm.create", { id: vm!.id });
    t.match((await one("vms", vm!.id))["VTPMs"], [vtpm]);
    t.match(await admin.call("vtpm.create", { id: running!.id }), {
      error: { code: 13 },
    });
    await admin.request("pusb.scan", { host: host!.id });
    await admin.request("pusb.set", { id: pusb!.id, enabled: true });
    t.equal(
      await admin.request("pci.getDom0AccessStatus", { id: pci!.id }),
      "enabled",
    );
    t.match(await admin.request("sm.getFromSr", { sr: sr!.id }), {
      SM_type: "nfs",
    });
  });

  t.test("without the right it is refused", async (t) => {
    const eve = await bench.addUser("eve", {
      [vm!.id]: "operator",
      [host!.id]: "operator",
      [pci!.id]: "operator",
      [pusb!.id]: "operator",
    });
    const id = vm!.id;
    for (const [method, params] of [
      ["customField.add", { id, name: "a", value: "b" }],
      ["customField.set", { id, name: "a", value: "b" }],
      ["customField.remove", { id, name: "a" }],
      ["tag.set", { id: "prod", color: "#000000" }],
      ["vtpm.create", { id }],
      ["vusb.create", { vm: id, usbGroup: group!.id }],
      ["pusb.scan", { host: host!.id }],
      ["pusb.set", { id: pusb!.id, enabled: false }],
      ["pci.disableDom0Access", { pcis: [pci!.id], disable: true }],
      ["host.setControlDomainMemory", { id: host!.id, memory: 2 ** 31 }],
    ] as const)
      t.match(await eve.call(method, params), { error: { code: 2 } }, method);
    const [other] = await list("messages");
    t.match(await eve.call("message.delete", { id: other!.id }), {
      error: { code: 1 },
    });
  });
});

t.test(
  "the memory of a control domain is changed, and is so after the next boot",
  LIMIT,
  async (t) => {
    const small = ["--hosts", "4", "--vms", "8", "--seed", "1"];
    const bench = await startStorageBench(t, ...small, "--pace", "0.05");
    const { admin, list } = bench;
    const [pool] = await list("pools");
    const hosts = await list("hosts");
    const { id, controlDomain } = hosts.find(
      ({ id }) => id !== pool!["master"],
    )!;
    const memoryOf = async () => {
      const path = `/vm-controllers/${String(controlDomain)}`;
      const { body } = await admin.rest("GET", path);
      return (body as { memory: { size: number; static: [number, number] } })
        .memory;
    };
    const before = await memoryOf();
    const memory = before.size / 2;
    const set = (memory: number) =>
      admin.call("host.setControlDomainMemory", { id, memory });
    t.match(await set(memory), {
      error: { data: { property: "enabled", expected: false } },
    });
    await admin.request("host.disable", { id });
    const { size } = hosts[0]!["memory"] as { size: number };
    const tooMuch = JSON.stringify(await set(4 * size));
    t.match(tooMuch, /memory: less than the \d+ bytes of the host is allowed/);
    t.match(await set(memory), { result: true });
    t.match(await memoryOf(), { size: before.size, static: [memory, memory] });
    await admin.request("host.restart", { id });
    while ((await memoryOf()).size !== memory) continue;
    t.pass("the host has booted with it");
  },
);
