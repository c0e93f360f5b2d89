import t from "tap";
import { de } from "../src/locale/de/all.js";
import { en } from "../src/locale/en/all.js";
import { Formats } from "../src/locale/formats.js";
import { chooseLanguage, regionalLanguage } from "../src/locale/languages.js";
import { fill } from "../src/locale/messages.js";

/** All texts with their paths, plural forms aside. */
function texts(tree: object, path = ""): [string, string][] {
  return Object.entries(tree).flatMap(([key, value]) =>
    typeof value === "string"
      ? [[`${path}${key}`, value] as [string, string]]
      : texts(value as object, `${path}${key}.`),
  );
}

const places = (text: string): string[] =>
  [...text.matchAll(/\{\w+\}/g)].map(([place]) => place).sort();

t.test(
  "each language has every text, with the same places to fill",
  async (t) => {
    const german = new Map(texts(de));
    for (const [path, text] of texts(en)) {
      t.ok(german.get(path), path);
      t.same(places(german.get(path) ?? ""), places(text), path);
    }
    t.equal(german.size, texts(en).length);
  },
);

t.test("fill replaces placeholders and leaves unknown ones", async (t) => {
  t.equal(fill("{a} of {b}", { a: 1 }), "1 of {b}");
  t.equal(fill("{constructor}", {}), "{constructor}");
});

t.test("the first available language is selected", async (t) => {
  t.equal(chooseLanguage(["fr-FR", "de-AT", "en"]), "de");
  t.equal(chooseLanguage(["fr"]), "en");
  t.equal(chooseLanguage(["toString"]), "en");
});

t.test(
  "numbers, sizes and spans are written as the language does",
  async (t) => {
    const english = new Formats("en", en);
    const german = new Formats("de", de);
    t.equal(english.count(114_161), "114,161");
    t.equal(german.count(114_161), "114.161");
    t.equal(english.rate(0), "0");
    t.equal(english.rate(2.14), "2.1");
    t.equal(english.rate(213.7), "214");
    t.equal(english.milliseconds(0.314), "0.31 ms");
    t.equal(german.milliseconds(3.14), "3,1 ms");
    t.equal(english.span(257.4), "257 ms");
    t.equal(english.span(1434), "1.4 s");
    t.equal(english.span(7_500_000), "2 h");
    t.equal(english.span(3 * 86_400_000), "3 d");
    t.equal(english.interval(20_000), "20 s");
    t.equal(english.interval(90_000), "90 s");
    t.equal(english.interval(300_000), "5 min");
    t.equal(english.interval(7_200_000), "2 h");
    t.equal(english.interval(172_800_000), "2 d");
    t.equal(english.duration(32_900), "32 s");
    t.equal(english.duration(300_000), "5 min");
    t.equal(english.size(4 * 2 ** 30), "4 GiB");
    t.equal(english.size(1536 * 2 ** 20), "1.5 GiB");
    t.equal(english.size(0), "0 B");
    t.equal(english.bytes(131_000_000), "131 MB");
    t.equal(english.bytes(2_550_000_000), "2.6 GB");
    t.equal(english.share(0.071), "7%");
    t.equal(english.plural(en.pools.count, 1), "1 pool");
    t.equal(english.plural(en.pools.count, 1200), "1,200 pools");
  },
);

t.test("dates and times follow the region of the browser", async (t) => {
  t.equal(regionalLanguage("en", ["fr-FR", "en-GB", "en-US"]), "en-GB");
  t.equal(regionalLanguage("de", ["en-GB"]), "de");
  const british = new Formats("en-GB", en);
  t.match(british.moment("2026-06-03T15:00:00Z"), /^3 Jun/);
});

t.test(
  "rates on an axis differ, and negative values have a unit",
  async (t) => {
    const english = new Formats("en", en);
    t.equal(english.bytes(1_500_000), "1.5 MB");
    t.equal(english.size(-5 * 2 ** 40), "-5 TiB");
  },
);

t.test("ages are texts in the largest fitting unit", async (t) => {
  const english = new Formats("en", en);
  t.equal(english.ago(-3000), "just now");
  t.equal(english.ago(12_900), "12 seconds ago");
  t.equal(english.ago(185_000), "3 minutes ago");
  t.equal(english.ago(90_000_000), "yesterday");
});

/** Phrases of earlier versions, and the term of XenServer and of XCP-ng in their place. */
const oddPhrases: readonly (readonly [odd: RegExp, usual: string])[] = [
  [/in mind|write down first/i, "quiesce"],
  [/it goes on from there/i, "include memory"],
  [/look at it only/i, "read-only"],
  [/cut the power/i, "force shutdown"],
  [/takes? (no more|no|more) VMs/i, "enabled, disabled"],
  [/squeezed/i, "dynamic minimum"],
  [/hangs on/i, "graphics adapter"],
  [/the usual one/i, "default"],
  [/(ask|look) again|look at more/i, "check again, refresh"],
  [/what is lost is lost|as it was$/i, "reset"],
  [/is called so|nothing else of it fits/i, "no match"],
  [/has said nothing/i, "unknown"],
  [/take it away|put one in/i, "export, import"],
  [/who has it|what it says/i, "role, privileges"],
  [/^can do/i, "capabilities"],
  [/between commas|they are made|^made$/i, "comma-separated, created"],
  [/rather no/i, "preferred anti-affinity"],
  [/without a place|leave their host/i, "cannot be evacuated"],
  [/somebody has seen/i, "acknowledge"],
  [/^note$/i, "Info"],
  [/moves begin|out of balance/i, "imbalance detected"],
  [/breaches|\bmended/i, "violations are corrected"],
];

t.test("texts use the terms of XenServer and XCP-ng", async (t) => {
  for (const [path, text] of texts(en)) {
    const odd = oddPhrases.find(([phrase]) => phrase.test(text));
    if (odd !== undefined) t.fail(`${path}: "${text}", not ${odd[1]}`);
  }
  const all = texts(en)
    .map(([, text]) => text.toLowerCase())
    .join("\n");
  for (const term of [
    "quiesce",
    "checkpoint",
    "coordinator",
    "evacuate",
    "read-only",
    "static minimum",
    "dynamic memory",
    "acknowledge",
    "anti-affinity",
    "revoke",
    "maintenance",
    "attach",
    "detach",
    "eject",
  ])
    t.ok(all.includes(term), term);
});
