import t from "tap";
import { DependencyIndex } from "../src/catalog/dependency-index.js";
import { PagedRows } from "../src/catalog/paged-rows.js";

/** Hashes of `count` reads, beginning with `from`. */
const hashes = (from: number, count: number) =>
  Int32Array.from({ length: count }, (_, i) => from + i);

function readersOf(index: DependencyIndex, hash: number): number[] {
  const rows: number[] = [];
  index.forEachReader(hash, (row) => rows.push(row));
  return rows.sort((a, b) => a - b);
}

t.test("dependencies are added to those of a row, each once", async (t) => {
  const index = new DependencyIndex();
  index.set(1, hashes(10, 3), 3);
  index.add(1, Int32Array.of(11, 12, 13, 13), 4);
  index.add(2, hashes(12, 2), 2);
  t.equal(index.count, 6);
  t.same(
    [10, 11, 12, 13, 14].map((hash) => readersOf(index, hash)),
    [[1], [1], [1, 2], [1, 2], []],
  );
  index.clear(1);
  t.same(readersOf(index, 12), [2]);
  t.equal(index.count, 2);
});

t.test(
  "the work for a row grows with its dependencies, not with their square",
  async (t) => {
    const index = new DependencyIndex();
    // eslint-disable-next-line @typescript-eslint/unbound-method -- called with its table below
    const get = PagedRows.prototype.get;
    t.teardown(() => {
      PagedRows.prototype.get = get;
    });
    let reads = 0;
    PagedRows.prototype.get = function (row, cell) {
      reads++;
      return get.call(this, row, cell);
    };
    // An SR with 5,000 disks, of which some were read before.
    index.set(1, hashes(1, 100), 100);
    reads = 0;
    index.add(1, hashes(1, 5_000), 5_000);
    t.equal(index.count, 5_000);
    t.ok(reads < 10 * 5_000, `${reads} reads`);
  },
);
