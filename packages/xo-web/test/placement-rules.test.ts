import t from "tap";
import { en } from "../src/locale/en/all.js";
import { Formats } from "../src/locale/formats.js";
import { breachesOf, type PlacedVm } from "../src/placement/rules/breaches.js";
import {
  faultsOf,
  isOurs,
  toEntries,
  toRule,
  type PlacementRule,
} from "../src/placement/rules/placement-rule.js";
import { ruleWords } from "../src/placement/rules/rule-words.js";

const english = { text: en, formats: new Formats("en", en) };

function rule(more: Partial<PlacementRule> = {}): PlacementRule {
  return {
    id: "r",
    pool: "p",
    name: "Cluster",
    kind: "apart",
    strict: true,
    ...more,
  };
}

function vms(...places: string[]): PlacedVm[] {
  return places.map((place) => {
    const [id = "", host = "", tag] = place.split(" ");
    return { id, host, tags: tag === undefined ? [] : [tag] };
  });
}

t.test("a rule that is only looked at stays as it is", async (t) => {
  const looked = [
    rule({ vms: ["a", "b"] }),
    rule({ kind: "together", strict: false, tag: "db", weight: 2.5 }),
    rule({
      kind: "location",
      strict: false,
      vms: ["a"],
      hosts: ["h"],
      score: -3,
    }),
    rule({ kind: "location", vms: ["a"], hosts: ["h"], score: 1 }),
  ];
  for (const { id, pool, ...body } of looked) {
    const entries = toEntries({ id, pool, ...body });
    t.same(faultsOf(entries), {});
    t.same(toRule(entries), body);
  }
});

t.test("what another kind had is left out", async (t) => {
  const entries = toEntries(
    rule({ kind: "location", vms: ["a", "b"], hosts: ["h"], score: -1 }),
  );
  entries.kind = "apart";
  entries.by = "tag";
  entries.tag = " db ";
  t.same(toRule(entries), {
    name: "Cluster",
    kind: "apart",
    strict: true,
    tag: "db",
  });
});

t.test("a rule says what it lacks", async (t) => {
  t.same(faultsOf(toEntries(undefined)), { name: "required", vms: "two" });
  const entries = toEntries(rule({ kind: "location", strict: false }));
  t.same(faultsOf(entries), { vms: "vms", hosts: "hosts" });
  entries.by = "tag";
  t.same(faultsOf(entries), { tag: "required", hosts: "hosts" });
  for (const weight of ["", "0", "-1", "much", "1e7", "NaN"])
    t.equal(faultsOf({ ...entries, weight }).weight, "number", weight);
  t.notOk(faultsOf({ ...entries, weight: "", strict: true }).weight);
});

t.test(
  "those apart that share a host are against it, all of them",
  async (t) => {
    const apart = rule({ vms: ["a", "b", "c", "gone"] });
    t.same(breachesOf(apart, vms("a h1", "b h2", "c h1", "d h2")), ["a", "c"]);
    t.same(breachesOf(apart, vms("a h1", "b h2", "c h3")), []);
  },
);

t.test(
  "those together that are not where most are, are against it",
  async (t) => {
    const together = rule({ kind: "together", tag: "db" });
    t.same(
      breachesOf(together, vms("a h1 db", "b h2 db", "c h2 db", "d h3 web")),
      ["a"],
    );
    t.same(breachesOf(together, []), []);
  },
);

t.test(
  "a location is broken elsewhere, or there when it is to be avoided",
  async (t) => {
    const only = rule({ kind: "location", vms: ["a", "b"], hosts: ["h1"] });
    t.same(breachesOf(only, vms("a h1", "b h2")), ["b"]);
    t.same(breachesOf({ ...only, score: -1 }, vms("a h1", "b h2")), ["a"]);
  },
);

t.test(
  "each rule has its sentence, and names its hosts up to a number",
  async (t) => {
    const said = (more: Partial<PlacementRule>) =>
      ruleWords(rule(more), english)
        .map((piece) => (typeof piece === "string" ? piece : piece.id))
        .join("");
    const wish = { strict: false };
    t.equal(said({}), "Anti-affinity: different hosts.");
    t.match(said(wish), /^Anti-affinity \(preferred\)/);
    t.equal(said({ kind: "together" }), "Affinity: same host.");
    const there = { kind: "location", hosts: ["h1", "h2"] } as const;
    t.equal(said(there), "Host affinity: only on h1, h2.");
    t.equal(
      said({ ...there, score: -1 }),
      "Host anti-affinity: never on h1, h2.",
    );
    t.equal(
      said({ ...there, ...wish }),
      "Host affinity (preferred): on h1, h2.",
    );
    t.equal(
      said({ ...there, ...wish, score: -1 }),
      "Host anti-affinity (preferred): not on h1, h2.",
    );
    t.equal(
      said({ ...there, hosts: ["1", "2", "3", "4", "5"] }),
      "Host affinity: only on 5 hosts.",
    );
  },
);

t.test("what comes from the pool is not changed here", async (t) => {
  t.ok(isOurs(rule()));
  t.notOk(isOurs(rule({ source: "xapi" })));
});
