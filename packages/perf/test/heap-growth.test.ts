import t from "tap";
import { HeapGrowth } from "../src/heap-growth.js";

function setUp() {
  const flags: string[] = [];
  const growth = new HeapGrowth((flag) => flags.push(flag));
  return { flags, growth };
}

t.test("the heap grows more while pools are loaded, and only then", (t) => {
  const { flags, growth } = setUp();
  growth.setLoading(true);
  growth.allow();
  growth.setLoading(true);
  t.same(flags, ["--heap-growing-percent=400"]);
  growth.setLoading(false);
  t.same(flags.slice(1), ["--heap-growing-percent=100"]);
  growth.setLoading(true);
  t.same(flags.slice(2), ["--heap-growing-percent=400"], "a further pool");
  t.end();
});

t.test("no flag is set before the threads are up", (t) => {
  const { flags, growth } = setUp();
  growth.setLoading(true);
  t.same(flags, []);
  growth.allow();
  t.same(flags, ["--heap-growing-percent=400"]);
  t.end();
});

t.test("a small pool may be loaded before that", (t) => {
  const { flags, growth } = setUp();
  growth.setLoading(true);
  growth.setLoading(false);
  growth.allow();
  growth.allow();
  t.same(flags, ["--heap-growing-percent=100"]);
  t.end();
});
