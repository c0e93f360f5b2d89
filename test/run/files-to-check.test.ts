import t from "tap";
import { filesToFormat, filesToLint, lockedVersion } from "./files-to-check.js";

const texts: Readonly<Record<string, string>> = {
  "packages/a/src/one.ts": 'import { two } from "./parts/two.js";',
  "packages/a/src/parts/two.ts": "export const two = 2;",
  "packages/a/src/other.ts": 'import { b } from "@xo-server/b";',
  "packages/a/src/Page.vue": 'import type { Two } from "./parts/two.js";',
  "packages/a/src/lazy.ts": 'const two = await import("./parts/two.js");',
  "docs/two.md": "two",
};
const files = new Map(
  Object.entries(texts).map(([name, text]) => [name, () => text]),
);

t.test("lints changed files and the files that import them", async (t) => {
  t.same(filesToLint(new Set(["packages/a/src/parts/two.ts"]), files), [
    "packages/a/src/one.ts",
    "packages/a/src/parts/two.ts",
    "packages/a/src/Page.vue",
    "packages/a/src/lazy.ts",
  ]);
});

t.test("lints the importers of a deleted file", async (t) => {
  const remaining = new Map(files);
  remaining.delete("packages/a/src/parts/two.ts");
  t.match(filesToLint(new Set(["packages/a/src/parts/two.ts"]), remaining), [
    "packages/a/src/one.ts",
  ]);
});

t.test("lints no documents", async (t) => {
  t.same(filesToLint(new Set(["docs/two.md"]), files), []);
});

t.test("formats changed files of any kind, not deleted ones", async (t) => {
  const changed = new Set(["docs/two.md", "docs/old.md"]);
  t.same(filesToFormat(changed, files.keys(), false), ["docs/two.md"]);
});

for (const name of [
  "package-lock.json",
  "eslint.config.js",
  "eslint-rules/denied-words.js",
  "docs/denied-words.json",
  "tsconfig.base.json",
  "packages/a/tsconfig.json",
])
  t.test(`lints all files if ${name} has changed`, async (t) => {
    t.equal(filesToLint(new Set([name]), files), undefined);
  });

for (const name of [".prettierignore", ".editorconfig"])
  t.test(`formats all files if ${name} has changed`, async (t) => {
    t.equal(filesToFormat(new Set([name]), files.keys(), false), undefined);
  });

t.test("a script or a rule of the other check affects no file", async (t) => {
  const scripts = new Set(["package.json", ".ci/run"]);
  t.same(filesToLint(scripts, files), []);
  t.same(filesToFormat(scripts, files.keys(), false), []);
  t.same(filesToFormat(new Set(["eslint.config.js"]), files.keys(), false), []);
  t.same(filesToLint(new Set([".prettierignore"]), files), []);
});

t.test("a new version of Prettier formats all files", async (t) => {
  const lock = (version: string) =>
    JSON.stringify({ packages: { "node_modules/prettier": { version } } });
  t.equal(lockedVersion(lock("3.10.1"), "prettier"), "3.10.1");
  t.equal(lockedVersion(lock("3.10.1"), "eslint"), undefined);
  t.same(
    filesToFormat(new Set(["package-lock.json"]), files.keys(), false),
    [],
  );
  t.equal(filesToFormat(new Set(), files.keys(), true), undefined);
});
