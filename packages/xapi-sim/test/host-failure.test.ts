import t from "tap";
import { TestClient } from "./support/raw-client.js";
import { change, placesOf, startSide, type Side } from "./support/two-pools.js";

type Texts = readonly string[];

function guestsOn({ db }: Side, host: string): Texts {
  return (db.get("host", host)["resident_VMs"] as Texts).filter(
    (vm) => db.get("VM", vm)["is_control_domain"] === false,
  );
}

/** All disks of it are on storage that every host reaches. */
function isAgile({ db }: Side, vm: string): boolean {
  return (db.get("VM", vm)["VBDs"] as Texts).every((vbd) => {
    const vdi = db.find("VDI", db.get("VBD", vbd)["VDI"] as string);
    return vdi === undefined || db.get("SR", vdi["SR"] as string)["shared"];
  });
}

/** Bytes that all hosts have free, and all that runs takes. */
function memoryOf({ db }: Side): Readonly<Record<string, number>> {
  return Object.fromEntries(
    [...db.records("host")].map(([ref, host]) => {
      const metrics = db.get("host_metrics", host["metrics"] as string);
      const used = (host["resident_VMs"] as Texts)
        .map((vm) => db.get("VM", vm))
        .filter((vm) => vm["is_control_domain"] === false)
        .reduce(
          (sum, vm) =>
            sum +
            Number(vm["memory_dynamic_max"]) +
            Number(vm["memory_overhead"]),
          0,
        );
      return [ref, Number(metrics["memory_free"]) + used];
    }),
  );
}

function isLive({ db }: Side, host: string): boolean {
  const metrics = db.get("host", host)["metrics"] as string;
  return db.get("host_metrics", metrics)["live"] === true;
}

function messagesOf({ db }: Side, className: string, ref: string): Texts {
  const { uuid } = db.get(className, ref);
  return [...db.records("message")]
    .filter(([, message]) => message["obj_uuid"] === uuid)
    .map(([, message]) => message["name"] as string);
}

/** A member with guests, each protected as `protect` says. */
async function startWithHa(
  t: Parameters<typeof startSide>[0],
  protect: (vm: string, i: number) => Readonly<Record<string, string | number>>,
): Promise<Side & { readonly host: string; readonly vms: Texts }> {
  const side = await startSide(t, { hosts: 3, vms: 30, pace: 0.01 });
  const { db, client } = side;
  const { sr, host: coordinator } = placesOf(side);
  const host = [...db.refs("host")].find((ref) => ref !== coordinator)!;
  const vms = guestsOn(side, host).filter((vm) => isAgile(side, vm));
  vms.forEach((vm, i) => db.update("VM", vm, protect(vm, i)));
  await client.call("pool.enable_ha", [sr], {});
  return { ...side, host, vms };
}

t.test("without HA a dead host's guests are halted, and stay so", async (t) => {
  const side = await startSide(t, { pace: 0.01 });
  const { db, pool } = side;
  const { host: coordinator } = placesOf(side);
  const host = [...db.refs("host")].find((ref) => ref !== coordinator)!;
  const before = memoryOf(side);
  const guests = guestsOn(side, host);
  t.ok(guests.length > 3);
  const halted = change(db, () => guestsOn(side, host).length === 0);
  pool.killHost(host);
  t.notOk(isLive(side, host));
  t.equal(
    db.get("VM", guests[0]!)["power_state"],
    "Running",
    "not detected yet",
  );
  await halted;
  for (const vm of guests)
    t.match(db.get("VM", vm), {
      power_state: "Halted",
      resident_on: "OpaqueRef:NULL",
    });
  t.same(memoryOf(side), before);
  pool.reviveHost(host);
  t.ok(isLive(side, host));
  t.equal(guestsOn(side, host).length, 0);
});

t.test(
  "with HA protected VMs restart in their order, best-effort ones after them",
  async (t) => {
    const side = await startWithHa(t, (_, i) =>
      i % 3 === 2
        ? { ha_restart_priority: "best-effort", order: 0 }
        : { ha_restart_priority: "restart", order: 20 - i, start_delay: 20 },
    );
    const { db, pool, host, vms } = side;
    t.ok(vms.length >= 4, `${vms.length} guests`);
    const before = memoryOf(side);
    const started: string[] = [];
    const over = new Set<string>();
    const done = change(db, () => {
      for (const vm of vms)
        if (
          db.get("VM", vm)["power_state"] === "Running" &&
          db.get("VM", vm)["resident_on"] !== host &&
          !started.includes(vm)
        )
          started.push(vm);
      for (const [, metrics] of db.records("host_metrics"))
        if (Number(metrics["memory_free"]) < 0) over.add("memory");
      return started.length === vms.length;
    });
    pool.killHost(host);
    await done;
    const rank = (vm: string) => {
      const { ha_restart_priority, order } = db.get("VM", vm);
      return ha_restart_priority === "restart" ? Number(order) : 100;
    };
    t.same(started.map(rank), started.map(rank).toSorted(byNumber));
    t.equal(over.size, 0);
    t.same(memoryOf(side), before);
    t.ok(messagesOf(side, "host", host).includes("HA_HOST_FAILED"));
    const [[, record]] = [...db.records("pool")] as [[string, object]];
    t.match(record, { ha_enabled: true });
  },
);

function byNumber(a: number, b: number): number {
  return a - b;
}

t.test("VMs that HA cannot restart are reported", async (t) => {
  const side = await startWithHa(t, () => ({ ha_restart_priority: "restart" }));
  const { db, pool, host, vms } = side;
  for (const [ref, { metrics }] of db.records("host"))
    if (ref !== host)
      db.update("host_metrics", metrics as string, { memory_free: 1 });
  const isReported = (vm: string) =>
    messagesOf(side, "VM", vm).includes("HA_PROTECTED_VM_RESTART_FAILED");
  const done = change(db, () => vms.every(isReported));
  pool.killHost(host);
  await done;
  for (const vm of vms) t.equal(db.get("VM", vm)["power_state"], "Halted");
});

t.test(
  "members of an anti-affinity group run on different hosts",
  async (t) => {
    const side = await startWithHa(t, () => ({
      ha_restart_priority: "restart",
    }));
    const { db, pool, host, vms } = side;
    const pair = vms.slice(0, 2);
    const group = db.create("VM_group", { placement: "anti_affinity" });
    for (const vm of pair) db.update("VM", vm, { groups: [group] });
    const places = () => pair.map((vm) => db.get("VM", vm)["resident_on"]);
    const done = change(db, () =>
      pair.every(
        (vm) =>
          db.get("VM", vm)["power_state"] === "Running" &&
          db.get("VM", vm)["resident_on"] !== host,
      ),
    );
    pool.killHost(host);
    await done;
    t.not(places()[0], places()[1]);
    const { client } = side;
    await client.call("VM.hard_shutdown", pair[1]);
    await client.call("VM.start", pair[1], false, false);
    t.not(places()[0], places()[1], "also who is started by hand");
  },
);

t.test("a host that HA gave up reports it after its return", async (t) => {
  const side = await startWithHa(t, () => ({ ha_restart_priority: "restart" }));
  const { db, pool, host, vms } = side;
  const back = change(db, () => isLive(side, host));
  const again = change(db, () =>
    vms.every((vm) => {
      const { power_state, metrics } = db.get("VM", vm);
      const run = db.get("VM_metrics", metrics as string);
      return (
        power_state === "Running" && (run["start_time"] as string) > "20261102"
      );
    }),
  );
  pool.lose(host, { crash: true, backAfter: 1 });
  await back;
  t.ok(messagesOf(side, "host", host).includes("HA_HOST_WAS_FENCED"));
  await again;
  t.pass("and its guests run again");
});

t.test("with HA another host becomes coordinator", async (t) => {
  const side = await startSide(t, {
    hosts: 3,
    vms: 20,
    members: 2,
    pace: 0.01,
  });
  const { db, pool, client } = side;
  const { sr, host } = placesOf(side);
  const vms = guestsOn(side, host).filter((vm) => isAgile(side, vm));
  for (const vm of vms) db.update("VM", vm, { ha_restart_priority: "restart" });
  await client.call("pool.enable_ha", [sr], {});
  const done = change(db, () =>
    vms.every(
      (vm) =>
        db.get("VM", vm)["power_state"] === "Running" &&
        db.get("VM", vm)["resident_on"] !== host,
    ),
  );
  pool.killHost(host);
  await done;
  const next = placesOf(side).host;
  t.not(next, host);
  const at = [...db.refs("host")].indexOf(next);
  await new TestClient(pool.urls[at]!).logIn();
});

t.test("an administrator declares a host dead", async (t) => {
  const side = await startSide(t);
  const { db, pool, client } = side;
  const { host: coordinator } = placesOf(side);
  const host = [...db.refs("host")].find((ref) => ref !== coordinator)!;
  await t.rejects(client.call("host.declare_dead", host), {
    message: /^HOST_IS_LIVE/,
  });
  const [vm] = guestsOn(side, host);
  pool.lose(host, { crash: true });
  await t.rejects(client.call("VM.pool_migrate", vm, coordinator, {}), {
    message: /^(CANNOT_CONTACT_HOST|VM_LACKS_FEATURE)/,
  });
  await client.call("host.declare_dead", host);
  t.equal(db.get("VM", vm!)["power_state"], "Halted");
  t.equal(guestsOn(side, host).length, 0);
});

t.test("a host is killed and revived from outside", async (t) => {
  const side = await startSide(t);
  const { db, pool } = side;
  const { host: coordinator } = placesOf(side);
  const host = [...db.refs("host")].find((ref) => ref !== coordinator)!;
  const post = async (path: string, body: object) =>
    (
      await fetch(`${pool.url}/sim/${path}`, {
        method: "POST",
        body: JSON.stringify(body),
      })
    ).status;
  t.equal(await post("kill", { host }), 200);
  t.notOk(isLive(side, host));
  t.equal(await post("revive", { host }), 200);
  t.ok(isLive(side, host));
  t.equal(await post("kill", { host: "OpaqueRef:nobody" }), 400);
});
