import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";

const RULE = `${"-".repeat(80)}\n\n`;

/**
 * Names, versions and license texts of the packages that these modules belong to.
 * @param {string} root folder with node_modules
 * @param {Iterable<string>} modules paths, relative to `root` or absolute
 * @returns {Promise<string>} one part per package, `name version: license` in its first line
 * @throws if a package has neither a license field nor a license file
 */
export async function toLicenseTexts(root, modules) {
  const folders = new Set(
    [...modules].flatMap(
      (path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [],
    ),
  );
  const paths = [...folders].map((folder) =>
    folder.startsWith("/") ? folder : join(root, folder),
  );
  const texts = await Promise.all(paths.toSorted().map(licenseText));
  return texts.join(RULE);
}

/** @param {string} folder of a package @returns {Promise<string>} */
async function licenseText(folder) {
  const manifest = await readFile(join(folder, "package.json"), "utf8");
  const { name, version, license } = JSON.parse(manifest);
  const names = await readdir(folder);
  const files = names.filter((file) =>
    /^(licen[cs]e|notice|copying)/i.test(file),
  );
  if (license === undefined && files.length === 0)
    throw new Error(`${name} has no license`);
  const texts = await Promise.all(
    files.map((file) => readFile(join(folder, file), "utf8")),
  );
  return [`${name} ${version}: ${license ?? "see below"}`, ...texts].join(
    "\n\n",
  );
}

/**
 * The packages that a text of `toLicenseTexts` names.
 * @param {string} text
 * @returns {{ name: string, version: string, license: string }[]}
 */
export function readLicenseTexts(text) {
  return text.split(RULE).flatMap((part) => {
    const match = /^(\S+) (\S+): (.+)$/m.exec(part.split("\n", 1)[0] ?? "");
    if (match === null) return [];
    const [, name = "", version = "", license = ""] = match;
    return [{ name, version, license }];
  });
}
