import t from "tap";
import type { ObjectRow } from "../src/api/object-row.js";
import { windowAround } from "../src/lists/rows/row-window.js";
import { commandOf } from "../src/lists/grid/row-keys.js";
import { Lines, type ListSection } from "../src/lists/rows/sections.js";
import {
  countOf,
  isChosen,
  MAX_CHOSEN,
  MAX_EXCLUDED,
  nothing,
  renewed,
  toggle,
  withAll,
  type Selection,
} from "../src/lists/selection/selection.js";
import { StableRows } from "../src/lists/rows/stable-rows.js";

const row = (id: string, more: object = {}): ObjectRow => ({
  id,
  type: "VM",
  ...more,
});
const rows = (ids: string, more: object = {}) =>
  [...ids].map((id) => row(id, more));
const idsOf = (list: readonly ObjectRow[]) => list.map(({ id }) => id).join("");

function stableWith(ids: string): StableRows {
  const stable = new StableRows();
  stable.see(0, 3);
  stable.take({ offset: 0, rows: rows(ids) }, true);
  return stable;
}

t.test("without the pointer the order is the server's", (t) => {
  const stable = stableWith("abcd");
  const view = stable.take({ offset: 0, rows: rows("cabd") }, false);
  t.equal(idsOf(view.rows), "cabd");
  t.equal(view.held, undefined);
  t.end();
});

t.test(
  "under the pointer rows keep their place, and new ones are announced",
  (t) => {
    const stable = stableWith("abcd");
    stable.hold(true);
    const same = stable.take(
      { offset: 0, rows: rows("abcd", { n: 1 }) },
      false,
    );
    t.equal(same.held, undefined, "values alone hold nothing back");
    t.equal(same.rows[0]?.["n"], 1);

    const view = stable.take(
      { offset: 0, rows: rows("cbad", { n: 2 }) },
      false,
    );
    t.equal(idsOf(view.rows), "abcd");
    t.same(view.held, ["a", "b", "c"], "the visible ones");
    t.equal(view.rows[0]?.["n"], 2);

    stable.hold(false);
    t.equal(idsOf(stable.view.rows), "cbad", "released: the current order");
    t.end();
  },
);

t.test("rows out of view may change their order under the pointer", (t) => {
  const stable = stableWith("abcd");
  stable.hold(true);
  const view = stable.take({ offset: 0, rows: rows("abced") }, false);
  t.equal(view.held, undefined);
  t.equal(idsOf(view.rows), "abced");
  t.end();
});

t.test("rows scrolled into view are shown, even in a frozen list", (t) => {
  const stable = stableWith("ab");
  stable.hold(true);
  const view = stable.take({ offset: 0, rows: rows("abcd") }, false);
  t.equal(idsOf(view.rows), "abcd");
  t.equal(view.held, undefined);
  const between = stable.take({ offset: 0, rows: rows("axbcd") }, false);
  t.equal(idsOf(between.rows), "abcd", "one in between would move them");
  t.end();
});

t.test("a deleted row keeps its place and is marked", (t) => {
  const stable = stableWith("abcd");
  stable.hold(true);
  stable.take({ offset: 0, rows: rows("bcdx") }, false);
  const view = stable.renew(rows("bc", { n: 3 }));
  t.equal(idsOf(view.rows), "abcd");
  t.ok(view.gone.has("a"));
  t.equal(view.rows[1]?.["n"], 3);
  t.end();
});

t.test(
  "the button, scrolling and new requests restore the server's order",
  (t) => {
    const changed = () => {
      const stable = stableWith("abcd");
      stable.hold(true);
      stable.take({ offset: 0, rows: rows("dcba") }, false);
      return stable;
    };
    t.equal(idsOf(changed().update().rows), "dcba");
    t.equal(
      idsOf(changed().take({ offset: 1, rows: rows("cbae") }, false).rows),
      "cbae",
      "another window",
    );
    t.equal(
      idsOf(changed().take({ offset: 0, rows: rows("xy") }, true).rows),
      "xy",
      "another question",
    );
    t.end();
  },
);

const section = (key: string, count: number, isOpen: boolean): ListSection => ({
  key,
  count,
  isOpen,
  hasHead: true,
});

t.test("lines of groups are counted, whether open or not", (t) => {
  const lines = new Lines([
    section("a", 2, true),
    section("b", 100, false),
    section("c", 100_000, true),
  ]);
  t.equal(lines.count, 3 + 1 + 100_001);
  const places = [0, 1, 2, 3, 4, 5].map((line) => {
    const { section, index } = lines.at(line)!;
    return `${section.key}${index}`;
  });
  t.same(places, ["a-1", "a0", "a1", "b-1", "c-1", "c0"]);
  t.equal(lines.at(lines.count), undefined);
  t.same(
    lines
      .rowsIn(1, 8)
      .map(({ section, first, end }) => [section.key, first, end]),
    [
      ["a", 0, 2],
      ["c", 0, 3],
    ],
  );
  t.same(new Lines([]).rowsIn(0, 10), []);
  t.end();
});

t.test("a window stays while there are enough rows on both sides", (t) => {
  const first = windowAround({ first: 0, end: 30 });
  t.equal(first.offset, 0);
  t.ok(first.limit >= 60);
  t.equal(windowAround({ first: 5, end: 35 }, first), first);
  const next = windowAround({ first: 60, end: 90 }, first);
  t.not(next, first);
  t.ok(next.offset <= 30 && next.offset + next.limit >= 120);
  const far = windowAround({ first: 99_970, end: 100_000 }, next);
  t.ok(far.offset > 99_900 && far.limit < 150);
  t.end();
});

t.test("rows are selected one by one, up to a limit", (t) => {
  let selection = toggle(nothing, row("a"));
  selection = withAll(selection, rows("bc"));
  t.equal(countOf(selection), 3);
  selection = toggle(selection, row("b"));
  t.notOk(isChosen(selection, "b"));
  const many = Array.from({ length: MAX_CHOSEN + 5 }, (_, n) => row(`${n}`));
  t.equal(countOf(withAll(nothing, many)), MAX_CHOSEN);
  t.end();
});

t.test("of a selection of all, single rows are deselected", (t) => {
  const all: Selection = { kind: "all", count: 100_000, excluded: new Set() };
  t.ok(isChosen(all, "anything"));
  const but = toggle(toggle(all, row("a")), row("b"));
  t.equal(countOf(but), 99_998);
  t.same(
    ["a", "b", "c"].map((id) => isChosen(but, id)),
    [false, false, true],
  );
  t.equal(countOf(toggle(but, row("a"))), 99_999, "selected again");
  t.equal(countOf(withAll(but, rows("abc"))), 100_000, "a range of rows, too");
  t.equal(renewed(but, rows("a")), but);
  let most: Selection = all;
  for (let n = 0; n < MAX_EXCLUDED; n++) most = toggle(most, row(`${n}`));
  t.equal(countOf(most), 100_000 - MAX_EXCLUDED);
  t.equal(toggle(most, row("one more")), most, "the limit");
  t.equal(countOf(toggle(most, row("0"))), countOf(most) + 1);
  t.end();
});

t.test("the selection shows the latest known values", (t) => {
  const selection = withAll(nothing, rows("ab"));
  t.equal(renewed(selection, rows("xy")), selection, "others change nothing");
  const next = renewed(selection, [row("a", { power_state: "Running" })]);
  t.equal(
    next.kind === "some" && next.objects.get("a")?.["power_state"],
    "Running",
  );
  t.equal(countOf(next), 2);
  t.end();
});

t.test("keys move, choose and open; with Alt they are the browser's", (t) => {
  const press = (key: string, more = {}) =>
    commandOf({
      key,
      shiftKey: false,
      ctrlKey: false,
      metaKey: false,
      altKey: false,
      ...more,
    });
  t.same(press("j"), { kind: "move", by: 1, isRange: false });
  t.same(press("J"), { kind: "move", by: 1, isRange: true });
  t.same(press("ArrowUp", { shiftKey: true }), {
    kind: "move",
    by: -1,
    isRange: true,
  });
  t.same(press("a", { ctrlKey: true }), { kind: "all" });
  t.same(press("a"), undefined);
  t.same(press("c", { ctrlKey: true }), undefined);
  t.same(press("ArrowDown", { altKey: true }), undefined);
  t.end();
});
