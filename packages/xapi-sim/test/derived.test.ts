import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { NULL_REF } from "@xo-server/model";
import t, { type Test } from "tap";
import { fleetMember } from "../src/fleet/profiles.js";
import { startFleet, startPool, type SimulatedPool } from "../src/index.js";
import { templateFleet } from "../src/derived/template-pool.js";
import { fastClock } from "./support/fast-clock.js";
import { TestClient } from "./support/raw-client.js";

type Records = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

const HOSTS = 3;
const VMS = 20;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;

/** Three pools derived from one template, and one pool that stores the same objects itself. */
async function setUp(t: Test) {
  const options = {
    // In simulated time: the first sweep, after 30 s, deletes tasks that the first listing has.
    clock: fastClock(1),
    refusalMs: 0,
  };
  const derived = await startFleet({
    ...options,
    pools: 3,
    hosts: HOSTS,
    vms: VMS,
  });
  const real = await startPool({
    ...options,
    fleet: templateFleet({
      hosts: HOSTS,
      vms: VMS,
      seed: 1,
      profile: fleetMember,
      name: "pool",
    }),
  });
  t.teardown(() => Promise.all([...derived, real].map((pool) => pool.stop())));
  return { derived, real };
}

function clientOf(pool: SimulatedPool): Promise<TestClient> {
  return new TestClient(pool.url).logIn();
}

function classesOf(pool: SimulatedPool): string[] {
  return [...pool.database.tables()]
    .map(({ className }) => className)
    .filter((name) => name !== "session" && pool.database.count(name) > 0);
}

async function listAll(pool: SimulatedPool): Promise<Map<string, Records>> {
  const client = await clientOf(pool);
  const all = new Map<string, Records>();
  for (const name of classesOf(pool))
    all.set(name, (await client.call(`${name}.get_all_records`)) as Records);
  return all;
}

t.test(
  "the first derived pool responds like a pool that holds its objects, but for the time of its start",
  async (t) => {
    const { derived, real } = await setUp(t);
    const expected = await listAll(real);
    t.ok(expected.size > 30, `${expected.size} classes`);
    const actual = await listAll(derived[0]!);
    const coordinator = Object.values(actual.get("pool")!)[0]!["master"];
    // The other pool has the fixed time of a given fleet.
    const hosts = [actual, expected].map((all) => all.get("host")!);
    const [started, given] = hosts.map(
      (records) =>
        records[String(coordinator)]!["other_config"] as Record<string, string>,
    );
    t.not(started!["agent_start_time"], given!["agent_start_time"]);
    started!["agent_start_time"] = given!["agent_start_time"]!;
    t.strictSame(actual, expected);
  },
);

t.test(
  "another seed has the same objects with other ids, names and addresses",
  async (t) => {
    const { derived } = await setUp(t);
    const [first, second] = await Promise.all(derived.map(listAll));
    const idsOf = (all: Map<string, Records>) =>
      new Set([...all.values()].flatMap(Object.keys));
    const ids = idsOf(second!);
    t.equal(ids.size, idsOf(first!).size);
    t.notOk(
      [...ids].some((ref) => idsOf(first!).has(ref)),
      "no reference in common",
    );
    for (const [name, records] of second!) {
      const blank = (all: Records) =>
        Object.values(all).map((record) =>
          JSON.stringify(record)
            .replaceAll(new RegExp(UUID, "g"), "")
            .replaceAll("p001-", "p000-")
            .replaceAll("127.101.", "127.100."),
        );
      t.strictSame(blank(records), blank(first!.get(name)!), name);
    }
    const [pool] = Object.values(second!.get("pool")!);
    t.equal(pool!["name_label"], "p001-pool");
    const addresses = Object.values(second!.get("host")!).map(
      (host) => host["address"],
    );
    t.strictSame(addresses, ["127.0.0.1", "127.101.0.2", "127.101.0.3"]);
  },
);

t.test(
  "every reference of a derived pool leads to an object of it",
  async (t) => {
    const { derived } = await setUp(t);
    const all = await listAll(derived[2]!);
    const known = new Set([...all.values()].flatMap(Object.keys));
    const fields = [
      "VBDs",
      "VIFs",
      "resident_on",
      "metrics",
      "guest_metrics",
      "VDI",
      "VM",
      "SR",
      "network",
      "host",
      "PBDs",
      "master",
    ];
    let seen = 0;
    const dangling: string[] = [];
    for (const [name, records] of all)
      for (const record of Object.values(records))
        for (const field of fields)
          for (const ref of [record[field] ?? []].flat() as string[]) {
            if (ref === NULL_REF || ref === "") continue;
            seen++;
            if (!known.has(ref)) dangling.push(`${name}.${field}`);
          }
    t.ok(seen > 500, `${seen} references`);
    t.strictSame([...new Set(dangling)], []);
  },
);

t.test("an object is found by its reference and by its uuid", async (t) => {
  const { derived } = await setUp(t);
  const pool = derived[1]!;
  const client = await clientOf(pool);
  const vms = (await client.call("VM.get_all_records")) as Records;
  const [ref, record] = Object.entries(vms)[0]!;
  t.strictSame(await client.call("VM.get_record", ref), record);
  t.equal(await client.call("VM.get_by_uuid", record["uuid"]), ref);
  await t.rejects(client.call("VM.get_record", "OpaqueRef:x"), {
    message: /HANDLE_INVALID/,
  });
  const other = await clientOf(derived[2]!);
  await t.rejects(other.call("VM.get_record", ref), {
    message: /HANDLE_INVALID/,
  });
});

t.test(
  "changes are reported, counted and listed, in the one pool alone",
  async (t) => {
    const { derived } = await setUp(t);
    const pool = derived[1]!;
    const client = await clientOf(pool);
    const before = await listAll(pool);
    const [poolRef] = Object.keys(before.get("pool")!);
    const token = await client.call("event.inject", "pool", poolRef);
    const [vm, gone] = Object.keys(before.get("VM")!);
    await client.call("VM.set_name_description", vm, "seen".repeat(40));
    await client.call("VM.add_tags", vm, "new");
    pool.database.destroy("VM", gone!);
    const task = pool.database.create("task", { name_label: "made" });

    const answer = (await client.call("event.from", ["*"], token, 1)) as {
      events: {
        class: string;
        operation: string;
        ref: string;
        snapshot?: Records[string];
      }[];
      valid_ref_counts: Record<string, number>;
    };
    const eventOf = (ref: string) =>
      answer.events.find((event) => event.ref === ref);
    t.match(eventOf(vm!), {
      class: "vm",
      operation: "mod",
      snapshot: { tags: ["new"] },
    });
    t.match(eventOf(gone!), { class: "vm", operation: "del" });
    t.match(eventOf(task), { class: "task", operation: "add" });
    t.equal(
      answer.valid_ref_counts["vm"],
      Object.keys(before.get("VM")!).length - 1,
    );
    t.equal(
      answer.valid_ref_counts["task"],
      Object.keys(before.get("task")!).length + 1,
    );
    t.equal(
      answer.valid_ref_counts["vbd"],
      Object.keys(before.get("VBD")!).length,
    );

    const after = await listAll(pool);
    t.equal(after.get("VM")![gone!], undefined);
    t.strictSame(after.get("VM")![vm!], eventOf(vm!)!.snapshot);
    t.ok(Object.hasOwn(after.get("task")!, task));
    t.equal(
      Object.keys(after.get("VM")!).length,
      answer.valid_ref_counts["vm"],
    );
    const others = await listAll(derived[0]!);
    t.notOk(
      Object.values(others.get("VM")!).some(({ tags }) =>
        (tags as string[]).includes("new"),
      ),
    );
  },
);

t.test("a listing after changes equals the events", async (t) => {
  const { derived } = await setUp(t);
  const pool = derived[2]!;
  const client = await clientOf(pool);
  const before = await listAll(pool);
  const [poolRef] = Object.keys(before.get("pool")!);
  const start = await client.call("event.inject", "pool", poolRef);
  const eventsAfter = async (token: unknown) =>
    (await client.call("event.from", ["*"], token, 1)) as {
      readonly token: string;
      readonly events: readonly {
        readonly operation: string;
        readonly ref: string;
        readonly snapshot: object;
      }[];
    };
  pool.setChurn(20_000);
  await client.call("event.from", ["task"], start, 5);
  pool.setChurn(0);
  const { events, token } = await eventsAfter(start);
  t.ok(events.length > 10, `${events.length} events`);
  const expected = new Map<string, object>(
    [...before.values()].flatMap((records) => Object.entries(records)),
  );
  for (const { operation, ref, snapshot } of events)
    if (operation === "del") expected.delete(ref);
    else expected.set(ref, snapshot);
  const after = new Map(
    [...(await listAll(pool)).values()].flatMap((records) =>
      Object.entries(records),
    ),
  );
  // Tasks of the changes end by themselves: these may have ended before or after the listing.
  await client.call("event.inject", "pool", poolRef);
  for (const { ref } of (await eventsAfter(token)).events) {
    if (ref === poolRef) continue;
    expected.delete(ref);
    after.delete(ref);
  }
  t.strictSame(new Map([...after].sort()), new Map([...expected].sort()));
});

t.test("after a new sign-in clients find their pool unchanged", async (t) => {
  const { derived } = await setUp(t);
  const pool = derived[1]!;
  const client = await clientOf(pool);
  pool.faults.set("sessionInvalid", { value: true, times: 1 });
  await t.rejects(client.call("VM.get_all"), { message: /SESSION_INVALID/ });
  const again = await clientOf(pool);
  t.equal(
    ((await again.call("VM.get_all")) as string[]).length,
    pool.database.count("VM"),
  );
});

for (const option of ["--derived", "--stamped"])
  t.test(`the program starts derived pools with ${option}`, async (t) => {
    const program = fileURLToPath(
      new URL("./support/run-simulator.js", import.meta.url),
    );
    const child = spawn(
      process.execPath,
      [program, option, "2x5", "--json", "--exit-with-parent"],
      { stdio: ["pipe", "pipe", "inherit"] },
    );
    t.teardown(() => child.kill());
    for await (const line of createInterface(child.stdout)) {
      const { pools } = JSON.parse(line) as { pools: unknown[] };
      t.equal(pools.length, 2);
      return;
    }
    t.fail("the program has ended");
  });
