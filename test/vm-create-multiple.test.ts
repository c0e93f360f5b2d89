import { setTimeout as pause } from "node:timers/promises";
import t from "tap";
import type { Thing } from "./api-session.js";
import { startControlled } from "./controlled-pools.js";

t.comment("timeout=300000");

const GiB = 2 ** 30;

interface TaskTree {
  readonly status: string;
  readonly progress: number;
  readonly result?: object;
  readonly properties: { readonly name: string };
  readonly tasks?: readonly TaskTree[];
}

t.test("several VMs are created at once", async (t) => {
  const { api, url, pools } = await startControlled(t, { hosts: 2, vms: 4 });
  const { database } = pools[0]!;
  const xapiTasks = database.count("task");
  const one = async (filter: object) => (await api.all(filter))[0] as Thing;
  const debian = { type: "VM-template", name_label: "Debian Bookworm 12" };
  const template = (await one(debian)).id;
  const pool = (await one({ type: "pool" })).id;
  const shared = { type: "SR", shared: true, content_type: "user" };
  const sr = (await one(shared)).id;
  const network = (await one({ type: "network" })).id;
  const order = { template, VDIs: [{ SR: sr, size: GiB }] };
  const contentOf = async (vdi: string) => {
    const params = { id: vdi, format: "raw" };
    const answer = (await api.request("disk.exportContent", params)) as {
      readonly $getFrom: string;
    };
    const body = await fetch(new URL(answer.$getFrom, url));
    return Buffer.from(await body.arrayBuffer()).toString("latin1");
  };

  await t.test("by a pattern, each with its own properties", async (t) => {
    const made = (await api.request("vm.createMultiple", {
      ...order,
      name_label: "web-{index:02}",
      count: 3,
      firstIndex: 9,
      name_description: "number {index}",
      tags: ["web"],
      cloudConfig: "#cloud-config\nhostname: {name}\nx: {{ name }}{{name}}\n",
      networkConfig: "address: 192.0.2.{index}\n",
      VDIs: [{ SR: sr, size: GiB, name_label: "root of {name}" }],
      VIFs: [{ network, allowedIpv4Addresses: ["192.0.2.{index}"] }],
    })) as { readonly id: string; readonly name: string }[];
    const names = ["web-09", "web-10", "web-11"];
    t.same(
      made.map(({ name }) => name),
      names,
    );
    for (const [i, { id, name }] of made.entries()) {
      t.match(await api.get(id), {
        name_label: name,
        name_description: `number ${9 + i}`,
        tags: ["web"],
        power_state: "Halted",
      });
      const vifs = await api.all({ type: "VIF", $VM: id });
      t.match(vifs, [{ allowedIpv4Addresses: [`192.0.2.${9 + i}`] }]);
      const disks = await api.all({ type: "VBD", VM: id, is_cd_drive: false });
      const vdis = await Promise.all(
        disks.map(({ VDI }) => api.get(String(VDI))),
      );
      t.ok(vdis.some(({ name_label }) => name_label === `root of ${name}`));
      const drive = vdis.find(({ name_label }) =>
        String(name_label).includes("CloudConfig"),
      )!;
      const content = await contentOf(drive.id);
      t.match(content, `hostname: ${name}\nx: {{ name }}{{name}}\n`);
      t.match(content, `address: 192.0.2.${9 + i}\n`);
      await api.request("vm.delete", { id });
    }
  });

  await t.test("by a list, as one task with subtasks", async (t) => {
    const names = ["alpha", "beta", "gamma", "delta", "epsilon"];
    const path = `/pools/${pool}/actions/create_vms`;
    const vdis = order.VDIs;
    const answer = await api.rest("POST", path, {
      template,
      vdis,
      names,
      boot: true,
    });
    t.equal(answer.status, 202, await answer.clone().text());
    const { taskId } = (await answer.json()) as { taskId: string };
    const ended = await api.rest("GET", `/tasks/${taskId}?wait=true`);
    const task = (await ended.json()) as TaskTree;
    t.match(task, { status: "success", progress: 100 });
    const parts = task.tasks ?? [];
    t.same(parts.map(({ properties }) => properties.name).toSorted(), [
      ...names.toSorted(),
    ]);
    for (const part of parts)
      t.ok(
        part.tasks?.some(({ properties }) => /VM.clone/.test(properties.name)),
        "what XAPI did for it is a part of it",
      );
    for (const name_label of names) {
      const { id, power_state } = await one({ type: "VM", name_label });
      t.equal(power_state, "Running");
      await api.request("vm.delete", { id });
    }
  });

  await t.test("failed creations are removed, and named", async (t) => {
    const count = () =>
      ["VM", "VDI", "VBD"].map((name) => database.count(name));
    const before = count();
    pools[0]!.failNext("VDI.create", "SR_FULL", ["1", "0"]);
    pools[0]!.failNext("VM.provision", "SR_FULL", ["1", "0"]);
    const names = ["a", "b", "c"];
    const { error } = await api.call("vm.createMultiple", { ...order, names });
    t.match(error, { message: "creating VMs: 2 of 3 failed" });
    const { created, failures } = error!.data as {
      readonly created: readonly { readonly id: string }[];
      readonly failures: readonly object[];
    };
    t.match(failures, [
      { name: /[abc]/, code: "SR_FULL", params: ["1", "0"] },
      { name: /[abc]/, code: "SR_FULL" },
    ]);
    t.equal(created.length, 1);
    await api.request("vm.delete", { id: created[0]!.id });
    t.same(count(), before);
    const tasks = (await (
      await api.rest("GET", "/tasks?fields=status,properties")
    ).json()) as TaskTree[];
    t.ok(
      tasks.some(({ properties }) => properties.name === "Creation of 3 VMs"),
      "as a task too, although it did not come over REST",
    );
  });

  await t.test("errors are reported before any VM is created", async (t) => {
    // The server deletes those of the operations before when it has stored their ends.
    while (database.count("task") > xapiTasks) await pause(20);
    const { generation } = database;
    const taskIds = async () =>
      ((await api.request("task.list")) as { id: string }[]).map(
        ({ id }) => id,
      );
    const tasks = await taskIds();
    for (const [wrong, code, reason] of [
      [{}, 10, /neither/],
      [{ count: 2 }, 10, /neither/],
      [{ names: ["a", "a"] }, 10, /duplicate name/],
      [{ names: ["a"], count: 2 }, 10, /1 names for 2/],
      [{ names: [] }, 10, undefined],
      [{ name_label: "x", count: 0 }, 10, undefined],
      [{ name_label: "x", count: 100_000 }, 10, undefined],
      [{ name_label: 1, count: 2 }, 10, undefined],
      [
        { names: ["a", "b"], VIFs: [{ network, mac: "02:00:00:00:00:01" }] },
        10,
        /MAC/,
      ],
      [{ names: ["a".repeat(1025)] }, 10, undefined],
      [
        {
          names: ["a", "b".repeat(1000)],
          cloudConfig: "{name} ".repeat(2_000),
        },
        10,
        /placeholders of a VM are replaced with more than 1048576/,
      ],
      [{ names: ["a", "b"], VDIs: [{ SR: network, size: 1 }] }, 1, undefined],
      [{ names: ["a", "b"], template: sr }, 1, undefined],
    ] as const) {
      const params = { ...order, ...wrong };
      const { error } = await api.call("vm.createMultiple", params);
      const what = JSON.stringify(wrong).slice(0, 80);
      t.equal(error?.code, code, what);
      if (reason !== undefined) t.match(error?.data, { reason }, what);
    }
    t.equal(database.generation, generation, "the pool is as it was");
    t.same(await taskIds(), tasks, "what is refused is not a task");
  });
});
