/*
 * npm run package -- deb|tarball|folder|sbom|licenses|checksums|all [--version V]
 *   [--output FOLDER] [--compression xz|gzip|none]
 * Packages of the tree as it is built (npm ci); nothing is downloaded.
 */
import { execFileSync } from "node:child_process";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildLicenseList, buildSbom } from "./bill-of-materials.js";
import { writeChecksums } from "./checksums.js";
import { buildDeb } from "./deb.js";
import { root, stage } from "./stage.js";
import { buildTarball } from "./tarball.js";

const builders = {
  deb: buildDeb,
  tarball: buildTarball,
  /** For the container image. */
  async folder({ version, output }) {
    const folder = join(output, "xo-server");
    await stage(folder, version);
    return folder;
  },
  sbom: buildSbom,
  licenses: buildLicenseList,
  checksums: writeChecksums,
  /** A release. */
  async all(options) {
    const files = [];
    for (const build of [buildDeb, buildTarball, buildSbom, buildLicenseList])
      files.push(await build(options));
    return [...files, await writeChecksums(options)].join("\n");
  },
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    version: { type: "string" },
    output: { type: "string", default: join(root, "packaging/dist") },
    compression: { type: "string" },
  },
});
const build = builders[positionals[0]];
if (build === undefined || positionals.length > 1) {
  console.error(
    `usage: npm run package -- ${Object.keys(builders).join("|")} [--version V] [--output FOLDER] [--compression xz|gzip|none]`,
  );
  process.exit(64);
}
const manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
await mkdir(values.output, { recursive: true });
console.log(
  await build({
    version: manifest.version,
    ...values,
    date: dateOfTree(),
  }),
);

/** Of the last commit, so that the same tree gives the same bytes. */
function dateOfTree() {
  const { SOURCE_DATE_EPOCH: given } = process.env;
  if (given) return new Date(Number(given) * 1000);
  try {
    const seconds = execFileSync("git", ["log", "-1", "--format=%ct"], {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return new Date(Number(seconds) * 1000);
  } catch {
    return new Date();
  }
}
