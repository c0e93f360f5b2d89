import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { referencePages } from "./reference-pages.js";
import { root } from "./sources.js";

/** `npm run docs`: writes the pages that follow from the source. */
for (const [path, toPage] of Object.entries(referencePages))
  writeFileSync(join(root, path), toPage());
