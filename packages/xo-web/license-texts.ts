import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Plugin } from "vite";
import { toLicenseTexts } from "../../packaging/license-texts.js";

/** Writes LICENSES.txt: the licenses of the packages that are part of the page. */
export function licenseTexts(): Plugin {
  return {
    name: "license-texts",
    apply: "build",
    async writeBundle({ dir = "dist" }, bundle) {
      const modules = Object.values(bundle).flatMap((file) =>
        file.type === "chunk" ? file.moduleIds : (file.originalFileNames ?? []),
      );
      const files = modules.map((id) => id.replace(/^\0/, ""));
      const text = await toLicenseTexts(import.meta.dirname, files);
      await writeFile(join(dir, "LICENSES.txt"), text);
    },
  };
}
