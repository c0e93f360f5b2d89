import t from "tap";
import { de } from "../src/locale/de/all.js";
import { en } from "../src/locale/en/all.js";
import { Formats } from "../src/locale/formats.js";
import {
  conflictLead,
  conflictSentence,
  pinnedText,
  ruleName,
  ruleSentence,
  scoreText,
  sentenceOf,
  type Sentence,
} from "../src/placement/rule-text.js";

const GIB = 2 ** 30;
const english = { text: en, formats: new Formats("en", en) };
const german = { text: de, formats: new Formats("de", de) };

/** With `[type id]` where an object is named. */
const plain = (sentence: Sentence): string =>
  sentence
    .map((piece) =>
      typeof piece === "string" ? piece : `[${piece.type} ${piece.id}]`,
    )
    .join("");

t.test("an error names the missing object, with a link", async (t) => {
  t.equal(
    plain(ruleSentence({ rule: "network", network: "n" }, english)),
    "Network [network n] missing",
  );
  t.equal(
    plain(ruleSentence({ rule: "sr", sr: "s" }, german)),
    "SR [SR s] nicht erreichbar",
  );
  t.equal(
    plain(ruleSentence({ rule: "memory", missing: 1.5 * GIB }, german)),
    "1,5 GiB Arbeitsspeicher fehlen",
  );
  t.equal(
    plain(ruleSentence({ rule: "group", group: "g", vm: "v" }, english)),
    "Rule [rule g]: conflict with [VM v]",
  );
  t.equal(
    plain(ruleSentence({ rule: "state", state: "down" }, english)),
    "Host is down",
  );
  t.equal(
    plain(ruleSentence({ rule: "vcpus", missing: 1 }, english)),
    "1 vCPU too many",
  );
  t.equal(
    plain(ruleSentence({ rule: "device", kind: "x/y", missing: 2 }, english)),
    "2 free [gpuGroup x] missing",
  );
});

t.test(
  "XAPI's reason why a VM cannot be migrated is described, or returned as it is",
  async (t) => {
    t.equal(pinnedText("VM_HAS_VGPU", en), "vGPU attached");
    t.equal(pinnedText("SOMETHING_NEW", en), "SOMETHING_NEW");
    t.equal(pinnedText("constructor", en), "constructor");
  },
);

t.test("a conflict reports its rules and whether it is minimal", async (t) => {
  const rules = [
    { rule: "memory", needed: 8 * GIB, free: 4 * GIB },
    { rule: "host-affinity", hostAffinity: "l" },
  ] as const;
  t.match(
    conflictLead({ rules, size: "smallest" }, english),
    /any one of them/,
  );
  t.match(
    conflictLead({ rules, size: "irreducible" }, english),
    /part of the conflict/,
  );
  t.equal(
    conflictLead({ rules: [rules[0]], size: "smallest" }, english),
    "Constraint that prevents the placement:",
  );
  t.equal(
    plain(conflictSentence(rules[0], english)),
    "8 GiB of memory required, 4 GiB free",
  );
  t.equal(
    plain(conflictSentence(rules[1], english)),
    "Host affinity rule [rule l]",
  );
});

t.test("a few hosts are named, many are counted", async (t) => {
  const of = (hosts: readonly string[]) =>
    plain(conflictSentence({ rule: "state", hosts }, english));
  t.equal(of(["a", "b"]), "[host a], [host b]: disabled or down");
  t.equal(of(["a", "b", "c", "d", "e"]), "5 hosts are disabled or down");
});

t.test("a score lists its non-zero parts and the room", async (t) => {
  t.same(scoreText({ hostAffinity: 0, groups: 0, headroom: 0.25 }, english), [
    "25% free",
  ]);
  t.same(scoreText({ hostAffinity: 10, groups: -1, headroom: -0.1 }, english), [
    "+10 from host affinity rules",
    "-1 from affinity and anti-affinity rules",
    "overloaded by 10%",
  ]);
});

t.test("unknown rules keep their names", async (t) => {
  t.equal(ruleName("sr", en), "SR not accessible");
  t.equal(ruleName("toString", en), "toString");
});

t.test("absent values keep their place", async (t) => {
  t.equal(plain(sentenceOf("{a} and {b}", { a: "x" })), "x and {b}");
});
