import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { referencePages } from "./reference-pages.js";
import { root } from "./sources.js";

for (const [path, toPage] of Object.entries(referencePages))
  t.test(`${path} equals the output of "npm run docs"`, async (t) => {
    t.equal(readFileSync(join(root, path), "utf8"), toPage());
  });
