import t from "tap";
import { parseFilter } from "@xo-server/filter";
import { en } from "../src/locale/en/all.js";
import {
  filterNames,
  propertiesOf,
  searchedPathsOf,
} from "../src/filters/properties.js";
import { mentionedIn } from "../src/filters/mentioned.js";
import { bothOf, toSelection } from "../src/filters/selection.js";
import { fromUnit, inUnit, unitFor } from "../src/filters/units.js";

t.test("free words are a search, the rest is a filter", async (t) => {
  t.same(toSelection("", "VM"), {});
  t.same(toSelection(" web db ", "VM"), { search: "web db" });
  t.same(toSelection("web power_state:Running 42", "VM"), {
    search: "web 42",
    filter: "power_state:Running",
  });
  t.same(toSelection("tags:a !enabled?", "host"), {
    filter: "tags:a !enabled?",
  });
});

t.test(
  "words that no index covers are searched in the same properties",
  async (t) => {
    const { filter = "", search } = toSelection('!web "a b"', "pool");
    t.equal(search, undefined);
    const places = ["name_label", "name_description", "tags"];
    const all = (word: string) =>
      `|(${places.map((name) => `${name}:${word}`).join(" ")})`;
    t.equal(filter, `!${all("web")} ${all('"a b"')}`);
  },
);

t.test("two filters are combined with AND", async (t) => {
  t.equal(bothOf("", "a"), "a");
  t.equal(bothOf("a", " "), "a");
  t.equal(bothOf("$pool:x", "|(a b)"), "$pool:x |(a b)");
});

t.test(
  "every property of the table has texts and can be written",
  async (t) => {
    const types = ["VM", "VM-template", "VM-snapshot", "host", "pool", "SR"];
    types.push("VDI", "network", "PIF", "VIF", "task", "message");
    for (const type of types) {
      const properties = propertiesOf(type);
      t.ok(properties.length > 4, type);
      t.equal(
        new Set(properties.map(({ path }) => path)).size,
        properties.length,
      );
      for (const { path } of properties) {
        t.ok(en.filters.properties[path].name);
        t.doesNotThrow(() => parseFilter(`${filterNames(path).join(":")}:1`));
      }
      for (const path of searchedPathsOf(type)) t.ok(path);
    }
    t.same(propertiesOf("__proto__"), []);
  },
);

t.test("numbers are shown in the unit that suits them", async (t) => {
  const memory = { unit: "bytes" } as const;
  t.equal(unitFor(memory, 8 * 2 ** 30).name, "GiB");
  t.equal(unitFor(memory, 1536 * 2 ** 20).name, "GiB");
  t.equal(unitFor(memory, 4097).name, "B");
  t.equal(unitFor(memory, 0).name, "GiB");
  const share = unitFor({ unit: "share" }, 0.07);
  t.equal(inUnit(0.07, share), 7);
  t.equal(fromUnit(7, share), 0.07);
});

t.test("objects that a filter names by their ids", async (t) => {
  const id = "64f47184-802c-48bd-a62f-84a1ac1a33db";
  const found = mentionedIn(`web !$pool:|(${id} x) name_label:${id}`, "VM");
  t.match(found, [{ property: { of: "pool" }, id, isNot: true }]);
  t.equal(found.length, 1);
  t.same(mentionedIn("$pool:", "VM"), []);
});
