import t from "tap";
import { toCell } from "../src/output/cell.js";
import { toTable } from "../src/output/table.js";

t.test("no line is wider than the terminal, whatever it is", async (t) => {
  const heads = [{ title: "name" }, { title: "id", isKept: true }];
  const rows = [
    [toCell("name", "永和九年歲在癸丑暮春之初"), toCell("id", "x".repeat(36))],
    [toCell("name", null), toCell("id", "y")],
  ];
  for (const columns of [80, 50, 46]) {
    const lines = toTable(heads, rows, columns);
    t.match(lines[1], "x".repeat(36), "the id is not truncated");
    t.equal(lines[2], `${lines[0]!.slice(0, -2).replace(/./g, " ")}y`);
  }
  t.match(
    toTable(heads, rows, 20)[1],
    /x…$/,
    "unless the terminal is too narrow",
  );
});

t.test("bytes, lists and objects are readable", async (t) => {
  t.equal(toCell("memory.size", 1610612736).text, "1.5 GiB");
  t.equal(toCell("size", 0).text, "0 B");
  t.equal(toCell("memory.size", 2 ** 60).text, "1024 PiB");
  t.equal(toCell("count", 2048).text, "2048");
  t.equal(toCell("tags", ["a", "b"]).text, "a, b");
  t.equal(toCell("other", { a: 1 }).text, '{"a":1}');
  t.equal(toCell("enabled", false).text, "false");
});

t.test(
  "in a pipe nothing is truncated, and one long value widens no other line",
  async (t) => {
    const heads = [{ title: "name" }, { title: "id" }];
    const rows = [
      [toCell("name", "n".repeat(10_000)), toCell("id", "x")],
      [toCell("name", "short"), toCell("id", "y")],
    ];
    const [head, long, short] = toTable(heads, rows, undefined);
    t.equal(long, `${"n".repeat(10_000)}  x`);
    t.equal(short!.length, 103);
    t.equal(head!.length, 104);
  },
);
