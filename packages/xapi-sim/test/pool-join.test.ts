import t, { type Test } from "tap";
import type { PoolOptions } from "../src/index.js";
import { TestClient } from "./support/raw-client.js";
import {
  changesSince,
  picture,
  startSide,
  type Side,
} from "./support/two-pools.js";

/** A bare host and a pool of three. */
async function hostAndPool(t: Test, options: PoolOptions = {}) {
  const joiner = await startSide(t, { profile: "host", seed: 21, ...options });
  const pool = await startSide(t, { profile: "C", seed: 22, members: 1 });
  return { joiner, pool, address: new URL(pool.pool.url).host };
}

function join(
  { client }: Side,
  address: string,
  message = "pool.join",
  password = "password",
): Promise<unknown> {
  return client.call(message, address, "root", password);
}

/** Until the host says whose member it is. */
async function asMember({ pool }: Side, address: string): Promise<void> {
  for (;;) {
    const error: unknown = await new TestClient(pool.url)
      .logIn()
      .then(() => undefined)
      .catch((reason: unknown) => reason);
    if (error instanceof Error && error.message === `HOST_IS_SLAVE ${address}`)
      return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

t.test("a host that joins a pool brings all its objects", async (t) => {
  const { joiner, pool, address } = await hostAndPool(t);
  const uuid = [...joiner.db.records("host")][0]![1]["uuid"] as string;
  const events: string[] = [];
  pool.db.onChange(({ operation, className }) =>
    events.push(`${operation} ${className}`),
  );
  await join(joiner, address);
  t.equal(pool.db.count("host"), 4);
  t.ok(events.includes("add host") && events.includes("add PBD"));
  const ref = pool.db.byUuid("host", uuid)!;
  const host = pool.db.get("host", ref);
  t.equal(host["address"], new URL(joiner.pool.url).host);
  const srs = (host["PBDs"] as string[]).map(
    (pbd) => pool.db.get("PBD", pbd)["SR"],
  );
  for (const [sr, record] of pool.db.records("SR"))
    if (record["shared"] === true) t.ok(srs.includes(sr), "a shared SR");
  const pifs = (host["PIFs"] as string[]).map((pif) => pool.db.get("PIF", pif));
  t.equal(pifs.filter((pif) => pif["physical"]).length, 4);
  t.ok(
    pifs.some((pif) => pif["device"] === "bond0" && pif["management"]),
    "the pool's bond is made of its interfaces",
  );
  const eth0 = [...pool.db.records("network")].find(
    ([, network]) => network["bridge"] === "xenbr0",
  )![0];
  t.equal(pifs.find((pif) => pif["device"] === "eth0")!["network"], eth0);
  t.match(pool.db.get("VM", host["control_domain"] as string), {
    is_control_domain: true,
    resident_on: ref,
  });
  await asMember(joiner, address);
  t.equal(
    await joiner.client.call("pool.is_slave", ref).catch(() => true),
    true,
  );
});

t.test("a joined host reports its statistics in the new pool", async (t) => {
  const { joiner, address } = await hostAndPool(t);
  const uuid = [...joiner.db.records("host")][0]![1]["uuid"] as string;
  await join(joiner, address);
  await asMember(joiner, address);
  const pair = Buffer.from("root:password").toString("base64");
  const answer = await fetch(
    `${joiner.pool.url}/rrd_updates?start=-60&host=true&json=true`,
    { headers: { authorization: `Basic ${pair}` } },
  );
  t.equal(answer.status, 200);
  const { meta } = (await answer.json()) as { meta: { legend: string[] } };
  t.ok(meta.legend.includes(`AVERAGE:host:${uuid}:cpu_avg`));
  t.notOk(
    meta.legend.some((name) => name.includes(":host:") && !name.includes(uuid)),
  );
});

t.test("a VM can run on a host that has joined", async (t) => {
  const { joiner, pool, address } = await hostAndPool(t);
  const uuid = [...joiner.db.records("host")][0]![1]["uuid"] as string;
  await join(joiner, address);
  const host = pool.db.byUuid("host", uuid)!;
  const movable: string[] = [];
  for (const [vm, record] of pool.db.records("VM"))
    if (
      record["power_state"] === "Running" &&
      record["is_control_domain"] === false
    )
      movable.push(
        ...((await pool.client
          .call("VM.assert_can_boot_here", vm, host)
          .then(() => [vm])
          .catch(() => [])) as string[]),
      );
  t.ok(movable.length > 0);
  await pool.client.call("VM.pool_migrate", movable[0], host, {});
  t.equal(pool.db.get("VM", movable[0]!)["resident_on"], host);
});

t.test("an ejected host is a pool of its own", async (t) => {
  const { joiner, pool, address } = await hostAndPool(t);
  const uuid = [...joiner.db.records("host")][0]![1]["uuid"] as string;
  const before = picture(pool.db);
  await join(joiner, address);
  await asMember(joiner, address);
  await pool.client.call("pool.eject", pool.db.byUuid("host", uuid)!);
  const left = changesSince(before, pool.db).filter(
    (name) => !name.startsWith("network "),
  );
  t.strictSame(left, []);
  await waitFor(() => new TestClient(joiner.pool.url).logIn());
});

t.test("a member reports a new coordinator", async (t) => {
  const { joiner, pool, address } = await hostAndPool(t);
  await join(joiner, address);
  await asMember(joiner, address);
  const [next] = [...pool.db.refs("host")].filter(
    (ref) => ref !== [...pool.db.records("pool")][0]![1]["master"],
  );
  await pool.client.call("pool.designate_new_master", next);
  await asMember(joiner, new URL(pool.pool.urls[1]!).host);
  t.pass();
});

t.test(
  "resources of a host prevent joining, and nothing changes",
  async (t) => {
    const { joiner, pool, address } = await hostAndPool(t);
    const before = picture(pool.db);
    const { db } = joiner;
    const [network] = [...db.refs("network")];
    const [host] = [...db.refs("host")];
    const cases: readonly (readonly [
      error: string,
      className: string,
      record: Record<string, never> | Record<string, string | boolean>,
    ])[] = [
      ["JOINING_HOST_CANNOT_CONTAIN_SHARED_SRS", "SR", { shared: true }],
      ["POOL_JOINING_HOST_HAS_BONDS", "Bond", {}],
      [
        "JOINING_HOST_CANNOT_HAVE_RUNNING_VMS",
        "VM",
        { power_state: "Running" },
      ],
      ["JOINING_HOST_CANNOT_BE_MASTER_OF_OTHER_HOSTS", "host", {}],
    ];
    for (const [error, className, record] of cases) {
      const ref = db.create(className, record);
      await t.rejects(join(joiner, address), { message: error });
      await t.rejects(join(joiner, address, "pool.join_force"), {
        message: error,
      });
      db.destroy(className, ref);
    }
    const pif = db.create("PIF", { network: network!, host: host! });
    const vlan = db.create("VLAN", { untagged_PIF: pif });
    await t.rejects(join(joiner, address), {
      message: "POOL_JOINING_HOST_HAS_NON_MANAGEMENT_VLANS",
    });
    db.destroy("VLAN", vlan);
    const [self] = [...db.refs("pool")];
    db.update("pool", self!, { ha_enabled: true });
    await t.rejects(join(joiner, address), { message: "HA_IS_ENABLED" });
    t.strictSame(changesSince(before, pool.db), []);
  },
);

t.test("the pool checks a joining host", async (t) => {
  const { joiner, pool, address } = await hostAndPool(t);
  const before = picture(pool.db);
  await t.rejects(join(joiner, "127.0.0.1:9"), {
    message: "JOINING_HOST_CONNECTION_FAILED",
  });
  await t.rejects(join(joiner, address, "pool.join", "wrong"), {
    message: /^SESSION_AUTHENTICATION_FAILED root/,
  });
  await t.rejects(join(joiner, new URL(pool.pool.urls[1]!).host), {
    message: `HOST_IS_SLAVE ${address}`,
  });
  await t.rejects(join(joiner, new URL(joiner.pool.url).host), {
    message: /^OPERATION_NOT_ALLOWED Host cannot become slave of itself/,
  });
  const { db } = joiner;
  const [host, record] = [...db.records("host")][0]!;
  const patched = async (
    patch: Record<string, object>,
    message = "pool.join",
  ) => {
    db.update("host", host, patch as never);
    const failure = join(joiner, address, message);
    await failure.catch(() => undefined);
    db.update("host", host, record);
    return failure;
  };
  await t.rejects(patched({ software_version: { product_version: "8.2.1" } }), {
    message: "POOL_JOINING_HOST_MUST_HAVE_SAME_PRODUCT_VERSION",
  });
  await t.rejects(patched({ cpu_info: { vendor: "AuthenticAMD" } }), {
    message: "POOL_HOSTS_NOT_HOMOGENEOUS CPUs differ",
  });
  t.strictSame(changesSince(before, pool.db), []);
  await patched({ cpu_info: { vendor: "AuthenticAMD" } }, "pool.join_force");
  t.equal(pool.db.count("host"), 4, "forced");
});

t.test(
  "a new coordinator must exist; the present one is accepted",
  async (t) => {
    const { pool } = await hostAndPool(t);
    const { db, client } = pool;
    const coordinator = [...db.records("pool")][0]![1]["master"];
    await client.call("pool.designate_new_master", coordinator);
    await client.call("host.get_all");
    const [other] = [...db.refs("host")].filter((ref) => ref !== coordinator);
    db.update("host_metrics", db.get("host", other!)["metrics"] as string, {
      live: false,
    });
    await t.rejects(client.call("pool.designate_new_master", other), {
      message: `CANNOT_CONTACT_HOST ${other}`,
    });
  },
);

async function waitFor(attempt: () => Promise<unknown>): Promise<void> {
  for (;;) {
    const worked = await attempt().then(
      () => true,
      () => false,
    );
    if (worked) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
