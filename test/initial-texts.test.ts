import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import t from "tap";
import { root } from "./sources.js";

const PAGE = join(root, "packages/xo-web/src");
const LOCALE = join(PAGE, "locale");

/** Import of a module that is loaded together with all texts. */
const WITH_ALL_TEXTS =
  /\b(?:page|lazyComponent|withAllTexts)\(\s*\(\)\s*=>\s*import\(\s*"[^"]+"\s*,?\s*\)/g;
const IMPORT =
  /\b(?:import|export)\s+(?!type\b)(?:[\w*{}\s,$]+?\s+from\s+)?"(\.[^"\n]+)"|\bimport\(\s*"(\.[^"\n]+)"/g;

/** Modules that are loaded before all texts are: by imports of main.ts. */
function initialModules(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const visit = (file: string): void => {
    if (found.has(file) || file.startsWith(LOCALE) || !/\.(ts|vue)$/.test(file))
      return;
    const code = readFileSync(file, "utf8");
    found.set(file, code);
    for (const match of code.replace(WITH_ALL_TEXTS, "").matchAll(IMPORT)) {
      const path = resolve(dirname(file), (match[1] ?? match[2])!);
      visit(path.replace(/\.js$/, ".ts"));
    }
  };
  visit(join(PAGE, "main.ts"));
  return found;
}

t.test(
  "components of the initial view only use texts that it is loaded with",
  async (t) => {
    const modules = initialModules();
    const names = [...modules.keys()].map((file) => relative(PAGE, file));
    for (const name of ["session/SignInPage.vue", "lists/ListGrid.vue"])
      t.ok(names.includes(name), name);
    t.notOk(names.includes("details/vm/VmPage.vue"));
    for (const [file, code] of modules)
      t.notMatch(code, /\buseLocale\b/, relative(PAGE, file));
  },
);

t.test("pages and dialogs are loaded with all texts", async (t) => {
  for (const [file, code] of initialModules())
    t.notMatch(code, /\bdefineAsyncComponent\b/, relative(PAGE, file));
});
