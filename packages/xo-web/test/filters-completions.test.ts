import t from "tap";
import { en } from "../src/locale/en/all.js";
import { termAt } from "../src/filters/caret-term.js";
import { complete, completionsFor } from "../src/filters/completions.js";
import type { KnownValue } from "../src/filters/completion.js";
import { readFilter } from "../src/filters/reading.js";
import { tokensOf } from "../src/filters/tokens.js";

const NOW = 1_800_000_000;

/** `^` is the caret. */
function proposed(marked: string, values: readonly KnownValue[] = []) {
  const caret = marked.indexOf("^");
  const text = marked.replace("^", "");
  const term = termAt(text, caret);
  const found = completionsFor(term, {
    type: "VM",
    messages: en.filters,
    values,
    now: NOW,
  });
  return { text, term, found, inserts: found.map(({ insert }) => insert) };
}

/** The text after the first proposal was chosen, with the caret in it. */
function chosen(marked: string, values: readonly KnownValue[] = []): string {
  const { text, term, found } = proposed(marked, values);
  const next = complete(text, term, found[0]!);
  return `${next.text.slice(0, next.caret)}^${next.text.slice(next.caret)}`;
}

t.test("every text is cut into pieces without gaps", async (t) => {
  const texts = [
    'power_state:|(running "a b") !tags:/x y/i memory:size:>=1 a? @',
    '"open',
    "/open",
    "a : b",
    "",
    "  ",
    "n*e:x 42:1",
  ];
  for (const text of texts)
    t.equal(
      tokensOf(text)
        .map(({ from, to }) => text.slice(from, to))
        .join(""),
      text,
    );
});

t.test("a property is found by its name in both languages", async (t) => {
  t.equal(proposed("pow^").inserts[0], "power_state:");
  t.equal(proposed("mem^").inserts[0], "memory:size:");
  t.equal(proposed("memory:^").inserts[0], "size:");
  t.ok(proposed("started^").inserts.includes("startTime:"));
  t.ok(proposed("a !cp^").inserts.includes("now.cpu:"));
  t.same(proposed("auto_p^").inserts, ["auto_poweron?", "!auto_poweron?"]);
  t.equal(
    proposed("^").inserts[0],
    "name_label:",
    "all of them where nothing is typed",
  );
});

t.test("values are proposed behind a property", async (t) => {
  t.same(proposed("power_state:ha^").inserts, ["Halted"]);
  t.same(proposed("x !power_state:|(Running su^").inserts, ["Suspended"]);
  t.same(proposed("memory:size:^").inserts, [">", ">=", "<", "<="]);
  t.equal(proposed("memory:size:>8^").found[0]?.label, "8 GiB");
  t.equal(proposed("memory:size:>8^").inserts[0], "8GiB");
  t.equal(proposed("now.cpu:>80^").inserts[0], "0.8");
  t.equal(proposed("startTime:^").inserts[0], `>${String(NOW - 3600)}`);
});

t.test(
  "values of the server: names for ids, the whole where it is a part of another",
  async (t) => {
    const pools = [{ value: "0a", label: "Lab", count: 3 }];
    t.match(proposed("$pool:la^", pools).found, [
      { insert: "0a", label: "Lab", detail: "3" },
    ]);
    const tags = [{ value: "prod" }, { value: "prod-eu" }, { value: "a b" }];
    t.same(proposed("tags:^", tags).inserts, ["/^prod$/", "prod-eu", '"a b"']);
  },
);

t.test("no completion is offered after a finished term", async (t) => {
  for (const text of ["(a)^", '"a b"^ c', "a?^", "/x/^"])
    t.same(proposed(text).inserts.slice(0, text.startsWith('"') ? 0 : 1), []);
});

t.test("the selected completion replaces the typed text", async (t) => {
  t.equal(chosen("pow^"), "power_state:^");
  t.equal(chosen("a pow^ b"), "a power_state:^ b");
  t.equal(chosen("power_st^ate:Running"), "power_state:^Running");
  t.equal(chosen("power_state:ha^"), "power_state:Halted ^");
  t.equal(chosen("power_state:ha^ b"), "power_state:Halted ^b");
  t.equal(chosen("power_state:|(ha^)"), "power_state:|(Halted^)");
  t.equal(chosen('tags:"a^', [{ value: "a b" }]), 'tags:"a b" ^');
  t.equal(chosen("memory:size:^"), "memory:size:>^");
});

t.test("while a term is incomplete, the others apply", async (t) => {
  const reads = (text: string) => {
    const { filter, isUnfinished } = readFilter(text);
    return [filter, isUnfinished];
  };
  t.same(reads("web power_state:Running"), ["web power_state:Running", false]);
  t.same(reads("web power_state:"), ["web", true]);
  t.same(reads("web !memory:size:>"), ["web", true]);
  t.same(reads('web "a b'), ["web", true]);
  t.same(reads("web )"), [undefined, false]);
  t.same(readFilter("a: )").error?.position, 3);
  t.same(
    reads("tags:(a b"),
    [undefined, true],
    "a group is more than its last term",
  );
});
