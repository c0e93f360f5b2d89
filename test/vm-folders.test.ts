import t from "tap";
import type { Thing } from "./api-session.js";
import { startControlled } from "./controlled-pools.js";

t.comment("timeout=300000");

t.test("folders of VMs are those of XenCenter", async (t) => {
  const { api, record } = await startControlled(t, { hosts: 1, vms: 6 });
  const vms = (await api.all({ type: "VM" })) as [Thing, Thing, Thing];
  const [first, second, third] = vms;
  // The simulated ones are in folders.
  for (const { id } of vms)
    await api.request("vm.setFolder", { id, folder: null });
  const [pool] = (await api.all({ type: "pool" })) as [Thing];
  const stored = (id: string) =>
    (record("VM", id)["other_config"] as Record<string, string>)["folder"];
  const emptyFolders = () =>
    (record("pool", pool.id)["other_config"] as Record<string, string>)[
      "EMPTY_FOLDERS"
    ];
  const ids = async (filter: string) => {
    const page = await api.request("query.page", {
      type: "VM",
      filter,
      fields: ["id", "folder"],
      sort: [{ by: "folder" }],
      limit: 10,
    });
    return (page as { rows: readonly Thing[] }).rows.map(({ id }) => id);
  };

  t.test("a VM is moved to a new folder, and out of it", async (t) => {
    const { id } = first;
    const create = true;
    await api.request("vm.setFolder", {
      id,
      folder: "/Production/Web/",
      create,
    });
    t.equal(stored(id), "/Production/Web");
    t.match(await api.all({ id }), [{ folder: "/Production/Web" }]);
    t.same(await ids('folder:"/Production"'), [id], "folders below match");
    t.same(await api.request("folder.getAll"), [
      { folder: "/Production", vms: 0 },
      { folder: "/Production/Web", vms: 1 },
    ]);
    const groups = await api.request("query.group", {
      type: "VM",
      by: "folder",
    });
    t.match(
      (groups as readonly { key?: string }[]).filter(
        ({ key }) => key !== undefined,
      ),
      [{ key: "/Production/Web", count: 1 }],
    );
    await api.request("vm.setFolder", { id, folder: null });
    t.equal(stored(id), undefined);
    t.same(await ids("folder?"), []);
  });

  t.test("a folder that is not known is an error", async (t) => {
    await api.request("vm.setFolder", {
      id: first.id,
      folder: "/Production/Web",
      create: true,
    });
    const { id } = second;
    const refused = async (folder: string, words: RegExp) => {
      const { error } = await api.call("vm.setFolder", { id, folder });
      t.equal(error?.code, 10, folder);
      t.match(JSON.stringify(error), words, folder);
      t.equal(stored(id), undefined);
    };
    await refused("/Prodction/Web", /did you mean \\?"\/Production\/Web\\?"\?/);
    await refused("/Elsewhere", /the nearest known folder is/);
    await refused("Production/Web", /did you mean \\?"\/Production\/Web\\?"\?/);
    await refused("/a;b", /did you mean \\?"\/ab\\?"\?/);
    await refused("/a//b", /did you mean \\?"\/a\/b\\?"\?/);
    await refused("/", /must be a path/);
    await api.request("vm.setFolder", { id, folder: "/Production" });
    t.equal(stored(id), "/Production", "what contains a folder is one");
  });

  t.test("several VMs are moved at once", async (t) => {
    const chosen = [second.id, third.id];
    await api.request("bulk.run", {
      method: "vm.setFolder",
      params: { folder: "/Production/Web" },
      ids: chosen,
      sync: true,
    });
    t.same(chosen.map(stored), ["/Production/Web", "/Production/Web"]);
  });

  t.test("a folder may be empty", async (t) => {
    const { id } = pool;
    await api.request("pool.createFolder", { id, folder: "/Later" });
    await api.request("pool.createFolder", { id, folder: "/Later/Still" });
    t.equal(emptyFolders(), "/Later;/Later/Still");
    t.match(
      JSON.stringify(await api.request("folder.getAll")),
      /"\/Later\/Still"/,
    );
    const wrong = await api.call("pool.deleteFolder", { id, folder: "/Latr" });
    t.match(JSON.stringify(wrong.error), /did you mean \\?"\/Later\\?"\?/);
    const used = { id, folder: "/Production" };
    const { error } = await api.call("pool.deleteFolder", used);
    t.match(JSON.stringify(error), /contains 3 VMs/);
    await api.request("pool.deleteFolder", { id, folder: "/Later" });
    t.equal(emptyFolders(), undefined);
  });

  t.test("rights on each VM decide", async (t) => {
    const { session: bob } = await api.signUp(t, "bob", {
      privileges: ["read", "administrate:set"].map((action) => ({
        resource: "VM",
        action,
        selector: `id:${second.id}`,
      })),
    });
    t.same(await bob.request("folder.getAll"), [
      { folder: "/Production", vms: 0 },
      { folder: "/Production/Web", vms: 1 },
    ]);
    const folder = "/Bob";
    const create = true;
    await bob.request("vm.setFolder", { id: second.id, folder, create });
    t.equal(stored(second.id), "/Bob");
    for (const [method, params] of [
      ["vm.setFolder", { id: third.id, folder, create }],
      ["pool.createFolder", { id: pool.id, folder }],
      ["pool.deleteFolder", { id: pool.id, folder }],
    ] as const) {
      const { error } = await bob.call(method, params);
      t.ok([1, 2].includes(error?.code ?? 0), method);
    }
    t.equal(stored(third.id), "/Production/Web");
    const { error } = await bob.call("vm.setFolder", {
      id: second.id,
      folder: "/Productio",
    });
    t.notMatch(JSON.stringify(error), /Production/, "names nothing foreign");
  });

  t.test("moves are in the audit log", async (t) => {
    const operation = "vm.setFolder";
    const records = await api.request("audit.getRecords", { operation });
    t.match(JSON.stringify(records), /\/Production\/Web/);
  });
});
