import t from "tap";
import { snapshotTree } from "../src/details/vm/snapshot-tree.js";

const one = (id: string, snapshot_time: number, parent?: string) => ({
  id,
  snapshot_time,
  ...(parent === undefined ? {} : { parent }),
});

/** `  b` is one deeper; `now` is what the VM is. */
function draw(
  snapshots: ReturnType<typeof one>[],
  current: string | undefined,
): string[] {
  return snapshotTree(snapshots, current).map(
    ({ snapshot, depth }) => "  ".repeat(depth) + (snapshot?.id ?? "now"),
  );
}

t.test(
  "a chain of snapshots has one depth and ends at the current state",
  async (t) => {
    const line = [one("c", 3, "b"), one("a", 1), one("b", 2, "a")];
    t.same(draw(line, "c"), ["a", "b", "c", "now"]);
  },
);

t.test("after a revert the previous state is a sibling", async (t) => {
  const forked = [one("a", 1), one("b", 2, "a"), one("c", 3, "b")];
  t.same(draw(forked, "a"), ["a", "  b", "  c", "now"]);
  const both = [...forked, one("d", 4, "a")];
  t.same(draw(both, "d"), ["a", "  b", "  c", "d", "now"]);
  t.same(draw(both, "b"), ["a", "  d", "b", "  c", "now"]);
});

t.test("pools without parents are sorted by their order", async (t) => {
  t.same(draw([one("b", 2), one("a", 1)], undefined), ["a", "b", "now"]);
});

t.test("a deleted parent counts as none", async (t) => {
  t.same(draw([one("b", 2, "a"), one("c", 3, "b")], "c"), ["b", "c", "now"]);
  t.same(draw([], "gone"), ["now"]);
});

t.test("followed objects are reported", async (t) => {
  const [, b, now] = snapshotTree([one("a", 1), one("b", 2, "a")], "b");
  t.equal(b?.after?.id, "a");
  t.equal(now?.after?.id, "b");
});

t.test("every snapshot is shown once, whatever its parents", async (t) => {
  const ring = [one("a", 1, "b"), one("b", 2, "a"), one("c", 3, "b")];
  const lines = draw(ring, "c").map((line) => line.trim());
  t.same(lines.sort(), ["a", "b", "c", "now"]);
});
