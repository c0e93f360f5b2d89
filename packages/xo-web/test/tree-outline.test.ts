import t from "tap";
import type { Json } from "@xo-server/kit";
import { emptyView, type WindowView } from "../src/live/live-window.js";
import type { ObjectRow } from "../src/api/object-row.js";
import {
  branches,
  countedRuns,
  foundBranches,
  hostKey,
  poolKey,
  restKey,
  runKey,
  type TreeInput,
} from "../src/tree/branches.js";
import { HeldWindow } from "../src/tree/held-window.js";
import { levelOf, Outline } from "../src/tree/outline.js";
import { treeMove } from "../src/tree/tree-keys.js";

const object = (type: string, id: string, $pool = id): ObjectRow => ({
  type,
  id,
  $pool,
  name_label: id,
});

function tree(...open: string[]) {
  const input: TreeInput = {
    pools: [object("pool", "p1"), object("pool", "p2")],
    hosts: [object("host", "h1", "p1"), object("host", "h2", "p1")],
    byPool: new Map([["p1", 100_010]]),
    byContainer: new Map([
      ["h1", 3],
      ["p1", 100_000],
    ]),
    byTag: new Map([
      ["prod", 2],
      ["", 7],
      ["a/b", 1],
    ]),
    isOpen: (key) => open.includes(key),
    totalOf: () => undefined,
  };
  return { input, outline: new Outline(branches("host", input)) };
}

/** Each line in a few words. */
function lines(outline: Outline, most = 20): string[] {
  return Array.from({ length: Math.min(outline.length, most) }, (_, at) => {
    const line = outline.at(at)!;
    const name =
      line.kind === "node"
        ? `${line.node.key} ${String(line.node.position)}/${String(line.node.size)}`
        : `${line.run.key}[${String(line.position)}]`;
    return " ".repeat(levelOf(line)) + name;
  });
}

t.test("closed pools are a line each", async (t) => {
  t.same(lines(tree().outline), [" pool p1 1/2", " pool p2 2/2"]);
});

t.test("an open pool shows its hosts, and VMs without a host", async (t) => {
  const { outline } = tree(poolKey("p1"), hostKey("h1"));
  t.same(lines(outline), [
    " pool p1 1/2",
    "  host h1 1/3",
    ...[0, 1, 2].map((position) => `   host h1 VMs[${String(position)}]`),
    "  host h2 2/3",
    "  rest p1 3/3",
    " pool p2 2/2",
  ]);
  const host = outline.at(1);
  t.match(host, { node: { count: 3, isOpen: true } });
  t.match(outline.at(5), { node: { count: 0 } });
  t.equal(
    (outline.at(5) as { node: { isOpen?: boolean } }).node.isOpen,
    undefined,
    "a host without VMs has nothing to open",
  );
});

t.test("of 100,000 VMs only visible ones are requested", async (t) => {
  const { outline } = tree(poolKey("p1"), hostKey("h1"), restKey("p1"));
  t.equal(outline.length, 100_008);
  const seen = outline.runsBetween(50_000, 50_030);
  t.match(seen, [{ run: { key: "rest p1 VMs" }, first: 49_993, end: 50_023 }]);
  t.equal(seen.length, 1);
  t.same(
    outline.runsBetween(0, 10).map(({ first, end }) => [first, end]),
    [
      [0, 3],
      [0, 3],
    ],
  );
  t.equal(outline.lineOf(runKey(restKey("p1"))), 7);
  t.equal(outline.parentOf(50_000), 6);
  t.equal(outline.parentOf(6), 0);
  t.equal(outline.parentOf(0), -1);
  t.equal(outline.at(outline.length), undefined);
});

t.test("tags in their order, none at the end, each exactly", async (t) => {
  const { input } = tree();
  const parts = branches("tag", { ...input, isOpen: () => true });
  const requests = parts.flatMap((part) =>
    part.kind === "run" ? part.run.request.filter : [],
  );
  t.same(requests, ["tags:/^a\\/b$/", "tags:/^prod$/", "tags:length:0"]);
});

t.test("live values take precedence over counted ones", async (t) => {
  const { input } = tree(poolKey("p1"), hostKey("h1"));
  const outline = new Outline(branches("host", { ...input, totalOf: () => 5 }));
  t.match(outline.at(1), { node: { count: 5 } });
  t.equal(outline.run(runKey(hostKey("h1")))?.total, 5);
});

t.test("a search shows matches by type, and counts all of them", async (t) => {
  const totals = new Map([
    ["found VM VMs", 2],
    ["found SR VMs", 1],
  ]);
  const outline = new Outline(foundBranches("x", (key) => totals.get(key)));
  t.same(lines(outline), [
    " found VM 1/2",
    "  found VM VMs[0]",
    "  found VM VMs[1]",
    " found SR 2/2",
    "  found SR VMs[0]",
  ]);
  t.equal(countedRuns("host", "x").length, 5);
  t.same(countedRuns("host", ""), []);
  t.match(countedRuns("none", ""), [{ key: "all VMs" }]);
});

t.test("the keyboard works as in any tree", async (t) => {
  const { outline } = tree(poolKey("p1"), hostKey("h1"));
  const move = (key: string, line: number) =>
    treeMove(key, outline, { line, page: 3 });
  t.equal(move("ArrowDown", 0), 1);
  t.equal(move("ArrowUp", 0), 0);
  t.equal(move("End", 0), 7);
  t.equal(move("PageDown", 6), 7);
  t.equal(move("ArrowRight", 0), 1, "into what is open");
  t.equal(move("ArrowRight", 7), "toggle", "opens");
  t.equal(move("ArrowRight", 3), 3, "a leaf has nothing in it");
  t.equal(move("ArrowLeft", 1), "toggle", "closes");
  t.equal(move("ArrowLeft", 3), 1, "is left");
  t.equal(move("ArrowLeft", 7), 0, "stays at the top");
  t.equal(move("Enter", 3), "enter");
  t.equal(move(" ", 0), "toggle");
  t.equal(move(" ", 3), "enter");
  t.equal(move("j", 3), undefined);
});

const view = (ids: string[], more: Partial<WindowView> = {}): WindowView => ({
  ...emptyView,
  rows: ids.map((id): Json => ({ id })),
  total: ids.length,
  state: "live",
  ...more,
});
const shown = ({ shown }: HeldWindow) =>
  shown.rows.map((row) => (row as { id: string }).id).join("");

t.test("a frozen list does not move, and is complete afterwards", async (t) => {
  const window = new HeldWindow();
  window.take(view(["a", "b"]), false);
  window.take(view(["b", "c", "d"]), true);
  t.equal(shown(window), "ab");
  t.equal(window.shown.total, 2);
  window.take({ ...view(["b"]), rows: [{ id: "b", name_label: "new" }] }, true);
  t.same(window.shown.rows[1], { id: "b", name_label: "new" }, "names change");
  window.release();
  t.equal(shown(window), "b");
});

t.test("rows scrolled to are shown immediately", async (t) => {
  const window = new HeldWindow();
  window.take(view(["a", "b"]), true);
  window.take(view(["c", "d"], { offset: 16, total: 99 }), true);
  t.equal(shown(window), "cd");
});
