import t from "tap";
import { toCell } from "../src/output/cell.js";
import { toReadable } from "../src/output/readable.js";
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

t.test("durations are shown in their two largest units", async (t) => {
  const shown = (ms: number) => toCell("durationMs", ms);
  t.same(shown(340), { text: "340 ms", isNumber: true });
  t.equal(shown(12_340).text, "12.3 s");
  t.equal(shown(59_980).text, "1 min");
  t.equal(shown(245_000).text, "4 min 5 s");
  t.equal(shown(7_380_000).text, "2 h 3 min");
  t.equal(shown(86_400_000).text, "1 d");
  t.equal(shown(30.5 * 86_400_000).text, "30 d 12 h");
  t.equal(toCell("durationMs", -1).text, "-1", "it is none");
  t.equal(toCell("items", 340).text, "340");
});

t.test("the state of a repository has dates and durations", async (t) => {
  const time = Date.UTC(2026, 10, 27, 12);
  const shown = toReadable({
    verification: { startedAt: time, verifiedBefore: time, firstBefore: time },
    restoreTests: [{ time, bootMs: 12_000, durationMs: 245_000 }],
    lastBackup: time,
    stored: 2_000_000_000_000,
  });
  t.equal(shown.match(/2026-11-2[678]T/g)?.length, 5, shown);
  t.match(shown, /bootMs: 12 s\n/);
  t.match(shown, /durationMs: 4 min 5 s\n/);
  t.match(shown, "stored: 2000000000000");
});
