import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import t from "tap";
import { filesBelow, root } from "./sources.js";

const PAGE = join(root, "packages/xo-web/src");
/** Sections whose keys are values: of actions, pages of the settings, messages of XAPI, and kinds of rules. */
const KEYED_BY_VALUES = [
  "palette.actionTerms.",
  "palette.settingsTerms.",
  "xapiMessages.",
  "placement.rules.requiredHints.",
  "placement.rules.preferredHints.",
];

/** Paths of all texts, plural forms as one. */
function paths(tree: object, above: readonly string[] = []): string[][] {
  return Object.entries(tree).flatMap(([key, value]) =>
    typeof value === "string" || "other" in (value as object)
      ? [[...above, key]]
      : paths(value as object, [...above, key]),
  );
}

t.test("no text of the page is unused", async (t) => {
  const url = join(root, "packages/xo-web/dist-test/src/locale/en/all.js");
  const { en } = (await import(pathToFileURL(url).href)) as { en: object };
  const code = filesBelow(PAGE)
    .filter((file) => !/[\\/]locale[\\/](en|de)[\\/]/.test(file))
    .map((file) => readFileSync(file, "utf8"))
    .join("\n");
  const words = new Set(code.match(/[\w$]+/g));
  /** Names that are followed by an index: `states[name]`. */
  const indexed = new Set(
    [...code.matchAll(/\b(\w+)\)?\[/g)].map(([, name]) => name),
  );
  const unused = paths(en)
    .filter((path) => !words.has(path.at(-1)!) && !indexed.has(path.at(-2)))
    .map((path) => path.join("."))
    .filter((path) => !KEYED_BY_VALUES.some((one) => path.startsWith(one)));
  t.same(unused, []);
});
