import t from "tap";
import { en } from "../src/locale/en/all.js";
import { Formats } from "../src/locale/formats.js";
import {
  violationsOf,
  type PlacedVm,
} from "../src/placement/rules/violations.js";
import {
  inputErrorsOf,
  isOurs,
  toEntries,
  toRule,
  type PlacementRule,
} from "../src/placement/rules/placement-rule.js";
import { ruleText } from "../src/placement/rules/rule-text.js";

const english = { text: en, formats: new Formats("en", en) };

function rule(more: Partial<PlacementRule> = {}): PlacementRule {
  return {
    id: "r",
    pool: "p",
    name: "Cluster",
    kind: "anti-affinity",
    required: true,
    ...more,
  };
}

function vms(...places: string[]): PlacedVm[] {
  return places.map((place) => {
    const [id = "", host = "", tag] = place.split(" ");
    return { id, host, tags: tag === undefined ? [] : [tag] };
  });
}

t.test("a viewed rule stays unchanged", async (t) => {
  const looked = [
    rule({ vms: ["a", "b"] }),
    rule({ kind: "affinity", required: false, tag: "db", weight: 2.5 }),
    rule({
      kind: "host-affinity",
      required: false,
      vms: ["a"],
      hosts: ["h"],
      score: -3,
    }),
    rule({ kind: "host-affinity", vms: ["a"], hosts: ["h"], score: 1 }),
  ];
  for (const { id, pool, ...body } of looked) {
    const entries = toEntries({ id, pool, ...body });
    t.same(inputErrorsOf(entries), {});
    t.same(toRule(entries), body);
  }
});

t.test("settings of another kind are left out", async (t) => {
  const entries = toEntries(
    rule({ kind: "host-affinity", vms: ["a", "b"], hosts: ["h"], score: -1 }),
  );
  entries.kind = "anti-affinity";
  entries.by = "tag";
  entries.tag = " db ";
  t.same(toRule(entries), {
    name: "Cluster",
    kind: "anti-affinity",
    required: true,
    tag: "db",
  });
});

t.test("a rule reports its missing properties", async (t) => {
  t.same(inputErrorsOf(toEntries(undefined)), { name: "required", vms: "two" });
  const entries = toEntries(rule({ kind: "host-affinity", required: false }));
  t.same(inputErrorsOf(entries), { vms: "vms", hosts: "hosts" });
  entries.by = "tag";
  t.same(inputErrorsOf(entries), { tag: "required", hosts: "hosts" });
  for (const weight of ["", "0", "-1", "much", "1e7", "NaN"])
    t.equal(inputErrorsOf({ ...entries, weight }).weight, "number", weight);
  t.notOk(inputErrorsOf({ ...entries, weight: "", required: true }).weight);
});

t.test(
  "those apart that share a host are against it, all of them",
  async (t) => {
    const apart = rule({ vms: ["a", "b", "c", "gone"] });
    t.same(violationsOf(apart, vms("a h1", "b h2", "c h1", "d h2")), [
      "a",
      "c",
    ]);
    t.same(violationsOf(apart, vms("a h1", "b h2", "c h3")), []);
  },
);

t.test(
  "those together that are not where most are, are against it",
  async (t) => {
    const together = rule({ kind: "affinity", tag: "db" });
    t.same(
      violationsOf(together, vms("a h1 db", "b h2 db", "c h2 db", "d h3 web")),
      ["a"],
    );
    t.same(violationsOf(together, []), []);
  },
);

t.test(
  "a host affinity is violated elsewhere, a host anti-affinity on the host",
  async (t) => {
    const only = rule({
      kind: "host-affinity",
      vms: ["a", "b"],
      hosts: ["h1"],
    });
    t.same(violationsOf(only, vms("a h1", "b h2")), ["b"]);
    t.same(violationsOf({ ...only, score: -1 }, vms("a h1", "b h2")), ["a"]);
  },
);

t.test(
  "each rule has its sentence, and names its hosts up to a number",
  async (t) => {
    const said = (more: Partial<PlacementRule>) =>
      ruleText(rule(more), english)
        .map((piece) => (typeof piece === "string" ? piece : piece.id))
        .join("");
    const preferred = { required: false };
    t.equal(said({}), "Anti-affinity: different hosts.");
    t.match(said(preferred), /^Anti-affinity \(preferred\)/);
    t.equal(said({ kind: "affinity" }), "Affinity: same host.");
    const there = { kind: "host-affinity", hosts: ["h1", "h2"] } as const;
    t.equal(said(there), "Host affinity: only on h1, h2.");
    t.equal(
      said({ ...there, score: -1 }),
      "Host anti-affinity: never on h1, h2.",
    );
    t.equal(
      said({ ...there, ...preferred }),
      "Host affinity (preferred): on h1, h2.",
    );
    t.equal(
      said({ ...there, ...preferred, score: -1 }),
      "Host anti-affinity (preferred): not on h1, h2.",
    );
    t.equal(
      said({ ...there, hosts: ["1", "2", "3", "4", "5"] }),
      "Host affinity: only on 5 hosts.",
    );
  },
);

t.test("pools of the configuration cannot be changed here", async (t) => {
  t.ok(isOurs(rule()));
  t.notOk(isOurs(rule({ source: "xapi" })));
});
