import t from "tap";
import {
  kindGroups,
  toActivityPage,
  type ActivityEntry,
} from "../src/activity/entry.js";
import { partsOf } from "../src/activity/sentence.js";
import { toRows, toTimeline } from "../src/activity/timeline.js";
import { de } from "../src/locale/de/all.js";
import { en } from "../src/locale/en/all.js";

let seq = 0;
const entry = (
  kind: ActivityEntry["kind"],
  time: number,
  more: Partial<ActivityEntry> = {},
): ActivityEntry => ({
  seq: ++seq,
  kind,
  time,
  objectId: "v",
  type: "VM",
  name: "web",
  ...more,
});
const said = (one: ActivityEntry, text = en.activity as typeof de.activity) =>
  partsOf(one, text)
    .map((part) => (typeof part === "string" ? part : `[${part.name}]`))
    .join("");

t.test("events are sentences with links", async (t) => {
  const host = { id: "h", type: "host", name: "h1" };
  t.equal(said(entry("vm.started", 0)), "[web] started");
  t.equal(said(entry("vm.started", 0, { to: host })), "[web] started on [h1]");
  t.equal(
    said(entry("vm.moved", 0, { from: host, to: { ...host, name: "h2" } })),
    "[web] was migrated from [h1] to [h2]",
  );
  t.equal(
    said(entry("vm.moved", 0, { to: host })),
    "[web] was migrated to [h1]",
  );
  t.equal(
    said(entry("vm.renamed", 0, { was: "old" }), de.activity),
    "VM „old“ wurde in [web] umbenannt",
  );
  const by = { userName: "ada", operation: "vm.stop" };
  t.equal(said(entry("vm.stopped", 0, { by })), "[web] stopped · ada");
});

t.test("every kind has texts and a place in the filter", async (t) => {
  const grouped = new Set<string>(Object.values(kindGroups).flat());
  for (const kind of Object.keys(en.activity.kinds)) {
    t.ok(grouped.has(kind), kind);
    for (const { sentences, many } of [en.activity, de.activity]) {
      t.match(Reflect.get(sentences, kind), /\{object\}/, kind);
      t.match((Reflect.get(many, kind) as { other: string }).other, /\{n\}/);
    }
  }
});

t.test("hours, as the clock on the wall has them", async (t) => {
  const at = (hour: number, minute: number) =>
    new Date(2026, 5, 1, hour, minute).getTime();
  const timeline = toTimeline([
    entry("vm.started", at(10, 5)),
    entry("vm.stopped", at(9, 59)),
    entry("vm.created", at(9, 0)),
  ]);
  t.same(
    timeline.map(({ from, rows }) => [from, rows.length]),
    [
      [at(10, 0), 1],
      [at(9, 0), 2],
    ],
  );
});

t.test("consecutive events of a kind are one", async (t) => {
  const started = [5, 4, 3, 2, 1].map((s) => entry("vm.started", s * 1_000));
  const sizes = (entries: readonly ActivityEntry[]) =>
    toRows(entries).map((row) => row.entries.length);
  t.same(sizes(started), [5]);
  t.same(sizes(started.slice(2)), [1, 1, 1], "three are distinguished");
  const other = { by: { userName: "ada", operation: "vm.start" } };
  t.same(
    sizes([entry("vm.started", 6_000, other), ...started]),
    [1, 5],
    "not by another person",
  );
  t.same(sizes([entry("vm.started", 90_000), ...started]), [1, 5]);
  const key = (entries: readonly ActivityEntry[]) => toRows(entries)[0]!.key;
  t.equal(
    key([entry("vm.started", 6_000), ...started]),
    key(started),
    "the row stays the same as it grows",
  );
});

t.test("a response of another shape is ignored", async (t) => {
  t.same(toActivityPage(null), { entries: [], before: undefined });
  t.match(toActivityPage({ entries: [], before: 3 }), { before: 3 });
});
