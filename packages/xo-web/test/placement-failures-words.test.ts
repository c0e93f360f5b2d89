import t from "tap";
import { de } from "../src/locale/de.js";
import { en } from "../src/locale/en.js";
import { Formats } from "../src/locale/formats.js";
import {
  conflictLead,
  conflictSentence,
  pinnedWords,
  ruleName,
  ruleSentence,
  scoreWords,
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

t.test("a refusal names what is missing, with a link to it", async (t) => {
  t.equal(
    plain(ruleSentence({ rule: "network", network: "n" }, english)),
    "Does not have the network [network n]",
  );
  t.equal(
    plain(ruleSentence({ rule: "sr", sr: "s" }, german)),
    "Erreicht das SR [SR s] nicht",
  );
  t.equal(
    plain(ruleSentence({ rule: "memory", lacks: 1.5 * GIB }, german)),
    "1,5 GiB Arbeitsspeicher zu wenig",
  );
  t.equal(
    plain(ruleSentence({ rule: "group", group: "g", vm: "v" }, english)),
    "[rule g]: [VM v] is in the way",
  );
  t.equal(
    plain(ruleSentence({ rule: "state", state: "down" }, english)),
    "Is down",
  );
  t.equal(
    plain(ruleSentence({ rule: "vcpus", lacks: 1 }, english)),
    "1 vCPU too many",
  );
  t.equal(
    plain(ruleSentence({ rule: "device", kind: "x/y", lacks: 2 }, english)),
    "2 too few free of [gpuGroup x]",
  );
});

t.test(
  "XAPI's code for what cannot move is told in words, or as it is",
  async (t) => {
    t.equal(pinnedWords("VM_HAS_VGPU", en), "it has a virtual GPU");
    t.equal(pinnedWords("SOMETHING_NEW", en), "SOMETHING_NEW");
    t.equal(pinnedWords("constructor", en), "constructor");
  },
);

t.test(
  "a conflict says whether it is the smallest, and names its rules",
  async (t) => {
    const rules = [
      { rule: "memory", needed: 8 * GIB, free: 4 * GIB },
      { rule: "location", location: "l" },
    ] as const;
    t.match(
      conflictLead({ rules, size: "smallest" }, english),
      /any one of them/,
    );
    t.match(conflictLead({ rules, size: "irreducible" }, english), /left out/);
    t.equal(
      conflictLead({ rules: [rules[0]], size: "smallest" }, english),
      "This stands against it:",
    );
    t.equal(
      plain(conflictSentence(rules[0], english)),
      "8 GiB of memory are needed, 4 GiB are free",
    );
    t.equal(
      plain(conflictSentence(rules[1], english)),
      "The placement rule [rule l]",
    );
  },
);

t.test("a few hosts are named, many are counted", async (t) => {
  const of = (hosts: readonly string[]) =>
    plain(conflictSentence({ rule: "state", hosts }, english));
  t.equal(of(["a", "b"]), "[host a], [host b]: no VMs can be there");
  t.equal(of(["a", "b", "c", "d", "e"]), "5 hosts take no VMs");
});

t.test("a score tells what is not nothing, and the room", async (t) => {
  t.same(scoreWords({ locations: 0, groups: 0, room: 0.25 }, english), [
    "25% room left",
  ]);
  t.same(scoreWords({ locations: 10, groups: -1, room: -0.1 }, english), [
    "+10 by placement rules for hosts",
    "-1 by groups of VMs",
    "10% too much to do",
  ]);
});

t.test("rules that are not known here keep their names", async (t) => {
  t.equal(ruleName("sr", en), "An SR is not reached");
  t.equal(ruleName("toString", en), "toString");
});

t.test("what is not given stays in its place", async (t) => {
  t.equal(plain(sentenceOf("{a} and {b}", { a: "x" })), "x and {b}");
});
