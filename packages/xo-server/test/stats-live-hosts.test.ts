import { readerOf, type ObjectReader } from "@xo-server/inventory";
import t from "tap";
import { LiveHosts } from "../src/stats/live-hosts.js";
import { statsMemory } from "../src/stats/stats-memory.js";

interface Row {
  id: string;
  pool: string;
  revision: number;
  object: Record<string, unknown>;
}

function setUp(...rows: (Row | undefined)[]) {
  const states: Record<string, string> = { p: "watching", q: "watching" };
  let read = 0;
  const table = {
    get rows() {
      return rows.length;
    },
    isLive: (row: number) => rows[row] !== undefined,
    id: (row: number) => rows[row]!.id,
    pool: (row: number) => rows[row]!.pool,
    revision: (row: number) => rows[row]!.revision,
    readRow: (row: number, visit: (object: ObjectReader) => void) => {
      read++;
      visit(readerOf(rows[row]!.object));
    },
  };
  const hosts = new LiveHosts(
    { follow: async () => table as never },
    {
      listSummaries: () =>
        Object.entries(states).map(([id, state]) => ({ id, state })) as never,
      xapi: (id) => ({ pool: id }) as never,
    },
  );
  const list = async () =>
    (await hosts.list()).map(({ id, address }) => `${id} ${address}`);
  return { hosts, list, states, read: () => read };
}

function row(id: string, pool: string, more: object = {}): Row {
  const object = { $pool: `${pool}-uuid`, address: `${id}.test` };
  return {
    id,
    pool,
    revision: 1,
    object: { ...object, power_state: "Running", ...more },
  };
}

t.test("hosts that run, of pools that are connected", async (t) => {
  const rows = [
    row("a", "p"),
    undefined,
    row("off", "p", { power_state: "Halted" }),
    row("nowhere", "p", { address: null }),
    row("b", "q"),
  ];
  const { hosts, list, states } = setUp(...rows);
  t.same(await list(), ["a a.test", "b b.test"]);
  const [first] = await hosts.list();
  t.match(first, { pool: "p-uuid", xapi: { pool: "p" } });
  states["q"] = "connecting";
  t.same(await list(), ["a a.test"]);
  states["q"] = "re-listing";
  t.same(await list(), ["a a.test", "b b.test"]);
});

t.test("a host is read again when something of it has changed", async (t) => {
  const one = row("a", "p");
  const { list, read } = setUp(one);
  await list();
  await list();
  t.equal(read(), 1);
  one.object["address"] = "moved.test";
  one.revision++;
  t.same(await list(), ["a moved.test"]);
  one.object["power_state"] = "Halted";
  one.revision++;
  t.same(await list(), []);
});

t.test("the limit is a share of the machine's memory", async (t) => {
  const mib = 2 ** 20;
  const of = (totalBytes: number, constrainedBytes = 0) =>
    statsMemory({ totalBytes, constrainedBytes, heapLimitBytes: 0 }) / mib;
  t.equal(of(8192 * mib), 512);
  t.equal(of(512 * mib), 64);
  t.equal(of(65_536 * mib), 1024);
  t.equal(of(65_536 * mib, 2048 * mib), 128);
});
