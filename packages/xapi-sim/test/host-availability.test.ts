import t from "tap";
import { TestClient } from "./support/raw-client.js";
import { change, placesOf, startSide } from "./support/two-pools.js";

type Texts = readonly string[];

t.test(
  "only an empty disabled host shuts down; the response comes first",
  async (t) => {
    const side = await startSide(t, { pace: 0.01 });
    const { db, client } = side;
    const { host: coordinator } = placesOf(side);
    const host = [...db.refs("host")].find((ref) => ref !== coordinator)!;
    await t.rejects(client.call("host.reboot", host), {
      message: "HOST_NOT_DISABLED",
    });
    await client.call("host.disable", host);
    const vm = (db.get("host", host)["resident_VMs"] as Texts).find(
      (ref) => db.get("VM", ref)["is_control_domain"] === false,
    )!;
    await t.rejects(client.call("host.reboot", host), {
      message: new RegExp(`^HOST_IN_USE ${host} VM OpaqueRef`),
    });
    t.equal(db.get("VM", vm)["power_state"], "Running");
    for (const ref of db.get("host", host)["resident_VMs"] as Texts)
      if (db.get("VM", ref)["is_control_domain"] === false)
        await client.call("VM.hard_shutdown", ref);
    const metrics = db.get("host", host)["metrics"] as string;
    const live = () => db.get("host_metrics", metrics)["live"];
    await client.call("host.reboot", host);
    t.equal(live(), false);
    await t.rejects(client.call("host.enable", host), {
      message: "HOST_NOT_LIVE",
    });
    await change(db, () => live() === true);
    t.equal(db.get("host", host)["enabled"], true);
  },
);

t.test("with the coordinator the pool and its sessions are lost", async (t) => {
  const side = await startSide(t, { pace: 0.05 });
  const { db, client, pool } = side;
  const { host } = placesOf(side);
  const metrics = db.get("host", host)["metrics"] as string;
  const live = () => db.get("host_metrics", metrics)["live"];
  pool.lose(host, { crash: false, backAfter: 2000 });
  await t.rejects(new TestClient(pool.url).logIn());
  await change(db, () => live() === true);
  await t.rejects(client.call("host.get_all"), {
    message: /^SESSION_INVALID/,
  });
  await new TestClient(pool.url).logIn();
});

t.test("a host that crashes has no guests when it is back", async (t) => {
  const side = await startSide(t);
  const { db, pool } = side;
  const { host: coordinator } = placesOf(side);
  const host = [...db.refs("host")].find((ref) => ref !== coordinator)!;
  const count = () =>
    (db.get("host", host)["resident_VMs"] as Texts).filter(
      (ref) => db.get("VM", ref)["is_control_domain"] === false,
    ).length;
  const metrics = db.get("host", host)["metrics"] as string;
  const back = () =>
    change(db, () => db.get("host_metrics", metrics)["live"] === true);
  const guests = count();
  t.ok(guests > 0);
  const first = back();
  pool.lose(host, { crash: false, backAfter: 1 });
  await first;
  t.equal(count(), guests, "only unreachable");
  const second = back();
  const answer = await fetch(`${pool.url}/sim/lose`, {
    method: "POST",
    body: JSON.stringify({ host, crash: true, backAfter: 1 }),
  });
  t.equal(answer.status, 200);
  await second;
  t.equal(count(), 0);
});

t.test("a flaky pool loses members now and then", async (t) => {
  const side = await startSide(t, {
    failureProfile: "flaky",
    pace: 0.0005,
    hosts: 3,
  });
  const { db } = side;
  await change(db, () =>
    [...db.records("host_metrics")].some(([, metrics]) => !metrics["live"]),
  );
  await change(db, () =>
    [...db.records("host_metrics")].every(([, metrics]) => metrics["live"]),
  );
  t.pass();
});
