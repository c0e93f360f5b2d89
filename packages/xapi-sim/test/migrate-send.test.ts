import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import t from "tap";
import { TestClient } from "./support/raw-client.js";
import {
  change,
  disksOf,
  guestOf,
  outcome,
  changesSince,
  picture,
  startSide,
  type Side,
} from "./support/two-pools.js";
import { twoPools, type Token, mapped } from "./migrated-pools.js";

for (const state of ["Running", "Halted"] as const)
  t.test(
    `a ${state.toLowerCase()} VM is migrated to another pool with its disks`,
    async (t) => {
      const { here, there, places, token } = await twoPools(t);
      const vm = guestOf(here, state);
      const before = here.db.get("VM", vm);
      const disks = disksOf(here.db, before);
      const events: string[] = [];
      there.db.onChange(({ operation, className }) =>
        events.push(`${operation} ${className}`),
      );
      const arrived = (await here.client.call(
        "VM.migrate_send",
        ...mapped(here, vm, { ...places, token }),
      )) as string;
      t.equal(here.db.find("VM", vm), undefined, "deleted here");
      for (const disk of disks) t.equal(here.db.find("VDI", disk), undefined);
      const after = there.db.get("VM", arrived);
      for (const field of ["uuid", "name_label", "power_state", "VCPUs_max"])
        t.equal(after[field], before[field], field);
      t.equal(after["is_a_template"], false);
      t.equal(disksOf(there.db, after).length, disks.length);
      for (const disk of disksOf(there.db, after))
        t.equal(there.db.get("VDI", disk)["SR"], places.sr);
      for (const vif of after["VIFs"] as string[])
        t.equal(there.db.get("VIF", vif)["network"], places.network);
      t.ok(events.includes("add VM") && events.includes("add VDI"));
      if (state === "Halted") return;
      t.equal(after["resident_on"], places.host);
      t.equal((after["consoles"] as string[]).length, 2);
      t.ok(
        (after["allowed_operations"] as string[]).includes("clean_shutdown"),
      );
    },
  );

t.test("memory freed by one mirror can be used by another", async (t) => {
  const { here, there, places, token } = await twoPools(t);
  const vm = guestOf(here, "Running");
  const record = here.db.get("VM", vm);
  const free = (side: Side, host: unknown) =>
    side.db.get(
      "host_metrics",
      side.db.get("host", host as string)["metrics"] as string,
    )["memory_free"] as number;
  const source = record["resident_on"];
  const before = [free(here, source), free(there, places.host)];
  await here.client.call(
    "VM.migrate_send",
    ...mapped(here, vm, { ...places, token }),
  );
  const size =
    (record["memory_dynamic_max"] as number) +
    (record["memory_overhead"] as number);
  t.equal(free(here, source), before[0]! + size);
  t.equal(free(there, places.host), before[1]! - size);
});

t.test("the contents of a VTPM are migrated, its secret leaves", async (t) => {
  const { here, there, places, token } = await twoPools(t);
  const vm = guestOf(here, "Halted");
  const { VTPMs } = here.db.get("VM", vm);
  for (const vtpm of VTPMs as string[])
    await here.client.call("VTPM.destroy", vtpm);
  const vtpm = (await here.client.call("VTPM.create", vm, false)) as string;
  await here.client.call("VTPM.set_contents", vtpm, "c3RhdGU=");
  const secrets = here.db.count("secret");
  const arrived = (await here.client.call(
    "VM.migrate_send",
    ...mapped(here, vm, { ...places, token }),
  )) as string;
  const [other] = there.db.get("VM", arrived)["VTPMs"] as string[];
  t.equal(await there.client.call("VTPM.get_contents", other), "c3RhdGU=");
  t.equal(here.db.count("secret"), secrets - 1);
});

t.test("data written to a disk is migrated", async (t) => {
  const { here, there, places, token } = await twoPools(t);
  const vm = guestOf(here, "Halted");
  const [vdi] = disksOf(here.db, here.db.get("VM", vm));
  const bytes = Buffer.alloc(4096, "it was written here ");
  const put = await fetch(
    `${here.pool.url}/import_raw_vdi?vdi=${vdi}&session_id=${here.client.session}`,
    { method: "PUT", body: bytes },
  );
  t.equal(put.status, 200);
  await put.arrayBuffer();
  const first = async (side: Side, ref: string, at: number) => {
    const answer = await fetch(
      `${side.pool.url}/export_raw_vdi?vdi=${ref}&session_id=${side.client.session}`,
    );
    const read: Buffer[] = [];
    let length = 0;
    for await (const chunk of answer.body! as AsyncIterable<Buffer>) {
      read.push(chunk);
      length += chunk.length;
      if (length >= at + 4096) break;
    }
    return Buffer.concat(read).subarray(at, at + 4096);
  };
  const noise = await first(here, vdi!, 8192);
  const arrived = (await here.client.call(
    "VM.migrate_send",
    ...mapped(here, vm, { ...places, token }),
  )) as string;
  const [copy] = disksOf(there.db, there.db.get("VM", arrived));
  t.strictSame(await first(there, copy!, 0), bytes);
  t.strictSame(await first(there, copy!, 8192), noise);
});

t.test("a copy is a new VM, the original is unchanged", async (t) => {
  const { here, there, places, token } = await twoPools(t);
  const vm = guestOf(here, "Halted");
  const before = picture(here.db);
  const copy = (await here.client.call(
    "VM.migrate_send",
    ...mapped(here, vm, { ...places, token }, { copy: "true" }),
  )) as string;
  t.strictSame(changesSince(before, here.db), []);
  t.not(there.db.get("VM", copy)["uuid"], here.db.get("VM", vm)["uuid"]);
  await t.rejects(
    here.client.call(
      "VM.migrate_send",
      ...mapped(
        here,
        guestOf(here, "Running"),
        { ...places, token },
        {
          copy: "true",
        },
      ),
    ),
    { message: /^VM_BAD_POWER_STATE \S+ halted running/ },
  );
});

t.test("one snapshot comes along", async (t) => {
  const { here, there, places, token } = await twoPools(t);
  const vm = guestOf(here, "Running");
  const snapshot = (await here.client.call(
    "VM.snapshot",
    vm,
    "then",
    [],
  )) as string;
  const snapshotUuid = here.db.get("VM", snapshot)["uuid"];
  const arrived = (await here.client.call(
    "VM.migrate_send",
    ...mapped(here, vm, { ...places, token }),
  )) as string;
  t.equal(here.db.find("VM", snapshot), undefined);
  const [moved] = there.db.get("VM", arrived)["snapshots"] as string[];
  t.match(there.db.get("VM", moved!), {
    uuid: snapshotUuid,
    snapshot_of: arrived,
    is_a_snapshot: true,
    name_label: "then",
  });
});

t.test(
  "cancelled during the transfer, the VM is unchanged and nothing is left at the target",
  async (t) => {
    const { here, there, places, token } = await twoPools(t, 1);
    const vm = guestOf(here, "Running");
    const before = [picture(here.db), picture(there.db)];
    const disks = there.db.count("VDI");
    const task = (await here.client.call(
      "Async.VM.migrate_send",
      ...mapped(here, vm, { ...places, token }),
    )) as string;
    await change(
      here.db,
      () => Number(here.db.get("task", task)["progress"]) > 0,
    );
    t.strictSame(
      Object.values(here.db.get("VM", vm)["current_operations"] as object),
      ["migrate_send"],
    );
    t.ok(there.db.count("VDI") > disks, "disks are there already");
    const cleaned = change(there.db, () => there.db.count("VDI") === disks);
    await here.client.call("task.cancel", task);
    t.equal((await outcome(here.db, task))["status"], "cancelled");
    await cleaned;
    t.strictSame(changesSince(before[0]!, here.db), []);
    t.strictSame(changesSince(before[1]!, there.db), []);
  },
);

t.test(
  "the target pool disconnects during the transfer: the VM stays",
  async (t) => {
    const { here, there, places, token } = await twoPools(t, 1);
    const vm = guestOf(here, "Running");
    const before = picture(here.db);
    const task = (await here.client.call(
      "Async.VM.migrate_send",
      ...mapped(here, vm, { ...places, token }),
    )) as string;
    await change(
      here.db,
      () => Number(here.db.get("task", task)["progress"]) > 0,
    );
    await there.pool.stop();
    const { error_info } = await outcome(here.db, task);
    t.match(error_info, ["VM_MIGRATE_FAILED", vm]);
    t.strictSame(changesSince(before, here.db), []);
  },
);

t.test("pools in different processes hand VMs over as well", async (t) => {
  const here = await startSide(t, { seed: 1 });
  const program = fileURLToPath(
    new URL("./support/run-simulator.js", import.meta.url),
  );
  const child = spawn(
    process.execPath,
    [
      program,
      "--pool",
      "C",
      "--seed",
      "7",
      "--pace",
      "0",
      "--json",
      "--exit-with-parent",
    ],
    { stdio: ["pipe", "pipe", "inherit"] },
  );
  t.teardown(() => child.kill());
  let line = "";
  for await (const text of createInterface(child.stdout)) {
    line = text;
    break;
  }
  const { pools } = JSON.parse(line) as { pools: [{ url: string }] };
  const there = await new TestClient(pools[0].url).logIn();
  const records = async (name: string) =>
    Object.entries(
      (await there.call(`${name}.get_all_records`)) as Record<
        string,
        Record<string, unknown>
      >,
    );
  const master = (await records("pool"))[0]![1]["master"];
  const network = (await records("PIF")).find(
    ([, pif]) => pif["management"] === true && pif["host"] === master,
  )![1]["network"] as string;
  const sr = (await records("SR")).find(
    ([, record]) =>
      record["shared"] === true && record["content_type"] !== "iso",
  )![0];
  const token = (await there.call(
    "host.migrate_receive",
    master,
    network,
    {},
  )) as Token;
  const vm = guestOf(here, "Running");
  const { uuid } = here.db.get("VM", vm);
  await here.client.call(
    "VM.migrate_send",
    ...mapped(here, vm, { sr, network, token }),
  );
  t.equal(here.db.find("VM", vm), undefined);
  const arrived = await there.call("VM.get_by_uuid", uuid);
  t.equal(await there.call("VM.get_power_state", arrived), "Running");
});
