import t from "tap";
import { PoolConflicts } from "../src/pools/pool-conflicts.js";
import { createLoggers } from "../src/log/logger.js";

function setUp() {
  const lines: string[] = [];
  const logger = createLoggers({
    destination: { write: (line: string) => lines.push(line) },
  }).named("test");
  /** UUIDs by class and connection. */
  const mirrored = new Map<string, string[]>();
  const list = (className: string, { poolId = "" } = {}) =>
    (mirrored.get(`${poolId} ${className}`) ?? []).map((uuid) => ({ uuid }));
  const conflicts = new PoolConflicts({ list } as never, logger);
  const codes = (id: string) =>
    conflicts.warningsOf(id).map(({ code, data }) => ({ code, ...data }));
  return { lines, mirrored, conflicts, codes };
}
const a = { id: "a", label: "A" };
const b = { id: "b", label: "B" };

t.test("two connections to pools with one UUID", async (t) => {
  const { conflicts, codes, lines } = setUp();
  conflicts.update(a, "u1", false);
  t.same(codes("a"), []);
  conflicts.update(b, "u1", false);
  t.same(codes("a"), [{ code: "SAME_POOL", pool: "B" }]);
  t.same(codes("b"), [{ code: "SAME_POOL", pool: "A" }]);
  conflicts.update(b, "u1", true);
  t.equal(lines.length, 2, "logged once for each");
  conflicts.remove("a");
  t.same(codes("b"), []);
});

t.test("a host in two pools", async (t) => {
  const { conflicts, mirrored, codes } = setUp();
  mirrored.set("a host", ["h1", "h2"]).set("b host", ["h3", "h2"]);
  conflicts.update(a, "u1", true);
  conflicts.update(b, "u2", true);
  t.same(codes("a"), [{ code: "SAME_HOSTS", pool: "B" }]);
  mirrored.set("b host", ["h3"]);
  conflicts.update(b, "u2", true);
  t.same(codes("a"), []);
});

t.test("another pool answers at an address", async (t) => {
  const { conflicts, mirrored, codes, lines } = setUp();
  conflicts.update(a, "u1", true);
  conflicts.update(a, undefined, false);
  conflicts.update(a, "u2", false);
  const expected = [{ code: "POOL_REPLACED", uuid: "u2", previous: "u1" }];
  t.same(codes("a"), expected);
  t.match(lines, [/another pool answers at this address: u2 instead of u1/]);
  // After a restart the snapshot is loaded before or after the connection.
  mirrored.set("b pool", ["u3"]);
  conflicts.update(b, "u4", false);
  t.match(codes("b"), [{ code: "POOL_REPLACED", previous: "u3" }]);
  mirrored.set("b pool", ["u4"]);
  conflicts.update(b, "u4", true);
  t.equal(codes("b").length, 1, "until the server restarts");
});
