import t from "tap";
import type { XapiRecord } from "../src/xapi-value.js";
import { change, outcome, startSide, type Side } from "./support/two-pools.js";

type Texts = readonly string[];

function hostsOf({ db }: Side): Texts {
  const { master } = [...db.records("pool")][0]![1];
  const others = [...db.records("host")]
    .map(([ref]) => ref)
    .filter((ref) => ref !== master);
  return [master as string, ...others];
}

const poolOf = ({ db }: Side) => [...db.records("pool")][0]![0];

async function check(side: Side, host: string): Promise<XapiRecord[]> {
  const params = [host, "updater.py", "check_update", {}];
  return JSON.parse(
    (await side.client.call("host.call_plugin", ...params)) as string,
  ) as XapiRecord[];
}

/** Empties a host, reboots it, and waits until it is online again or stays offline. */
async function reboot(side: Side, host: string, comesBack = true) {
  const { db, client } = side;
  await client.call("host.disable", host);
  await client.call("host.evacuate", host);
  const metrics = db.get("host", host)["metrics"] as string;
  const isLive = () => db.get("host_metrics", metrics)["live"] === true;
  await client.call("host.reboot", host);
  if (isLive()) await change(db, () => !isLive());
  if (comesBack && !isLive()) await change(db, isLive);
}

t.test("XCP-ng: the updater plugin lists and installs packages", async (t) => {
  const side = await startSide(t, { hosts: 3, vms: 6 });
  const { db, client } = side;
  const [, host] = hostsOf(side) as [string, string];
  const missing = await check(side, host);
  t.match(missing[0], {
    name: "xen-hypervisor",
    version: "4.17.5",
    release: "23.1",
    changelog: { author: String, date: Number },
    size: Number,
    license: "GPLv2",
  });
  const update = (args: object) =>
    client.call("host.call_plugin", host, "updater.py", "update", args);
  await update({ packages: "qemu" });
  t.notOk((await check(side, host)).some(({ name }) => name === "qemu"));
  t.match(JSON.parse((await update({})) as string), { exit: 0 });
  t.same(await check(side, host), []);
  t.match(db.get("host", host)["software_version"], { xapi_build: "25.6.0" });
  await reboot(side, host);
  t.match(db.get("host", host)["software_version"], { xapi_build: "25.33.1" });
  t.not((await check(side, hostsOf(side)[0]!)).length, 0, "others have not");
});

t.test("XCP-ng: a second run of the plugin finds it busy", async (t) => {
  const side = await startSide(t, { hosts: 1, vms: 0, pace: 0.05 });
  const { db, client } = side;
  const [host] = hostsOf(side) as [string];
  const update = [host, "updater.py", "update", {}];
  const task = await client.call("Async.host.call_plugin", ...update);
  await t.rejects(check(side, host), {
    message: /-1.*The updater plugin is busy \(current operation: update\)/s,
  });
  await t.rejects(client.call("host.call_plugin", ...update), {
    message: /Update already in progress/,
  });
  t.match(await outcome(db, task as string), { status: "success" });
});

t.test("one function of a plugin fails", async (t) => {
  const side = await startSide(t, { hosts: 1, vms: 0 });
  const [host] = hostsOf(side) as [string];
  side.pool.failNext("host.call_plugin/updater.py/update", "-1", ["no space"]);
  t.not((await check(side, host)).length, 0);
  await t.rejects(
    side.client.call("host.call_plugin", host, "updater.py", "update", {}),
    { message: /no space/ },
  );
});

t.test("XenServer 8: synchronised updates are applied by hash", async (t) => {
  const side = await startSide(t, {
    hosts: 2,
    vms: 6,
    system: "xenserver-8",
  });
  const { db, client, pool } = side;
  const [host] = hostsOf(side) as [string];
  const read = async () =>
    fetch(`${pool.url}/updates?session_id=${client.session}&host_refs=${host}`);
  t.equal((await read()).ok, false, "not synchronised");
  const hash = await client.call(
    "pool.sync_updates",
    poolOf(side),
    false,
    "",
    "",
  );
  const body = (await (await read()).json()) as {
    hosts: XapiRecord[];
    updates: XapiRecord[];
    hash: string;
  };
  t.equal(body.hash, hash);
  t.match(body.hosts, [
    { ref: host, guidance: { mandatory: ["RebootHost"] }, RPMS: Array },
  ]);
  t.match(body.updates[0], { type: "security", severity: "High", URL: String });
  t.equal(db.get("host", host)["latest_synced_updates_applied"], "no");
  t.same(
    await client.call("pool.check_update_readiness", poolOf(side), false),
    [],
  );
  await t.rejects(client.call("host.apply_updates", host, "another"), {
    message: /UPDATEINFO_HASH_MISMATCH/,
  });
  t.same(await client.call("host.apply_updates", host, hash), []);
  t.match(db.get("host", host), {
    latest_synced_updates_applied: "yes",
    last_update_hash: hash,
    pending_guidances: ["reboot_host"],
  });
});

t.test(
  "XenServer 7: an uploaded update is introduced and applied",
  async (t) => {
    const side = await startSide(t, {
      hosts: 2,
      vms: 4,
      system: "xenserver-7",
    });
    const { db, client, pool } = side;
    const [sr] = [...db.records("SR")].find(
      ([, { shared }]) => shared === true,
    )!;
    const vdi = (await client.call("VDI.create", {
      name_label: "update",
      SR: sr,
      virtual_size: 2 * 2 ** 20,
      type: "user",
      sharable: false,
      read_only: false,
      other_config: {},
    })) as string;
    await t.rejects(client.call("pool_update.introduce", vdi), {
      message: /INVALID_UPDATE/,
    });
    const bytes = Buffer.alloc(2 * 2 ** 20);
    bytes.write(
      '<update name-label="XS71E001" uuid="11111111-2222-3333-4444-555555555555" version="1.0" installation-size="1048576" after-apply-guidance="restartHost"/>',
    );
    const put = await fetch(
      `${pool.url}/import_raw_vdi?session_id=${client.session}&vdi=${vdi}&format=raw`,
      { method: "PUT", body: bytes },
    );
    t.ok(put.ok);
    const update = (await client.call("pool_update.introduce", vdi)) as string;
    const [host, other] = hostsOf(side) as [string, string];
    t.equal(await client.call("pool_update.precheck", update, host), "ok");
    await client.call("pool_update.apply", update, host);
    t.match(db.get("host", host), {
      updates: [update],
      updates_requiring_reboot: [update],
    });
    await t.rejects(client.call("pool_update.precheck", update, host), {
      message: /UPDATE_ALREADY_APPLIED/,
    });
    await t.rejects(client.call("pool_update.destroy", update), {
      message: /UPDATE_IS_APPLIED/,
    });
    await client.call("pool_update.pool_apply", update);
    t.same(db.get("host", other)["updates"], [update]);
  },
);

t.test("faults of the next boot", async (t) => {
  const side = await startSide(t, { hosts: 4, vms: 0 });
  const { db, pool } = side;
  const [, away, bare, old] = hostsOf(side) as [string, string, string, string];
  pool.failBoot(away, "never");
  pool.failBoot(bare, "unplugged");
  pool.failBoot(old, "old-version");
  const params = [old, "updater.py", "update", {}];
  await side.client.call("host.call_plugin", ...params);
  await reboot(side, old);
  t.match(db.get("host", old)["software_version"], { xapi_build: "25.6.0" });
  await reboot(side, bare);
  const plugged = (db.get("host", bare)["PBDs"] as Texts).filter(
    (pbd) => db.get("PBD", pbd)["currently_attached"],
  );
  t.same(plugged, []);
  await reboot(side, away, false);
  const metrics = db.get("host", away)["metrics"] as string;
  t.equal(db.get("host_metrics", metrics)["live"], false);
});

t.test(
  "memory of a control domain is set while it runs, and taken at the boot of its host",
  async (t) => {
    const side = await startSide(t, { hosts: 3, vms: 6 });
    const { db, client } = side;
    const [, host] = hostsOf(side) as [string, string];
    const { control_domain, metrics } = db.get("host", host);
    const domain = () => db.get("VM", control_domain as string);
    const actual = () =>
      db.get("VM_metrics", domain()["metrics"] as string)["memory_actual"];
    const free = () =>
      Number(db.get("host_metrics", metrics as string)["memory_free"]);
    const before = actual() as number;
    const [less, more] = [before - 2 ** 30, before + 2 ** 30];
    const set = (value: number) =>
      client.call("VM.set_memory", control_domain, value);
    await t.rejects(set(less), {
      message: /MEMORY_CONSTRAINT_VIOLATION_ORDER/,
    });
    const freeBefore = free();
    await set(more);
    t.match(domain(), { memory_static_max: more, requires_reboot: true });
    t.equal(actual(), before);
    t.equal(free(), freeBefore);
    const limits = [less, less, less, less];
    await client.call("VM.set_memory_limits", control_domain, ...limits);
    await client.call("host.disable", host);
    await client.call("host.evacuate", host);
    const empty = free();
    await reboot(side, host);
    t.equal(actual(), less);
    t.equal(free(), empty + 2 ** 30);
    t.match(domain(), { memory_static_min: less, requires_reboot: false });
    await t.rejects(client.call("VM.hard_shutdown", control_domain), {
      message: /OPERATION_NOT_ALLOWED/,
    });
  },
);
