/*
 * What the packages are made of: a list for machines (CycloneDX) and one of licenses.
 * From what is really part of the bundle, the page and the copied packages, which the
 * dependency tree of npm does not show.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toComponentList } from "./component-list.js";
import { root, stage } from "./stage.js";

/** @returns {Promise<import("./stage.js").Component[]>} */
async function readComponents(version) {
  const folder = await mkdtemp(join(tmpdir(), "xo-server-sbom-"));
  try {
    return await stage(join(folder, "program"), version);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** CycloneDX 1.5. @returns {Promise<string>} path of the file */
export async function buildSbom({ version, output, date }) {
  const components = await readComponents(version);
  const hashes = await readHashes();
  const bom = {
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: {
      timestamp: date.toISOString(),
      component: {
        type: "application",
        "bom-ref": `xo-server@${version}`,
        name: "xo-server",
        version,
        licenses: [{ license: { id: "Apache-2.0" } }],
      },
    },
    components: components.map((one) => toComponent(one, hashes)),
    dependencies: [
      {
        ref: `xo-server@${version}`,
        dependsOn: components.map(toPackageUrl),
      },
    ],
  };
  const file = join(output, `xo-server-${version}.cdx.json`);
  await writeFile(file, `${JSON.stringify(bom, null, 2)}\n`);
  return file;
}

/** @returns {Promise<string>} path of the file */
export async function buildLicenseList({ version, output }) {
  const components = await readComponents(version);
  const file = join(output, `xo-server-${version}-licenses.txt`);
  await writeFile(file, toComponentList(components));
  return file;
}

function toComponent(component, hashes) {
  const { name, version, license } = component;
  const [, group, bare = name] = /^(@[^/]+)\/(.+)$/.exec(name) ?? [];
  const integrity = hashes.get(`${name}@${version}`);
  return {
    type: "library",
    "bom-ref": toPackageUrl(component),
    ...(group === undefined ? {} : { group }),
    name: bare,
    version,
    purl: toPackageUrl(component),
    licenses: [toLicense(license)],
    ...(integrity === undefined ? {} : { hashes: [toHash(integrity)] }),
  };
}

function toPackageUrl({ name, version }) {
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}

/** An expression such as `(MIT OR Apache-2.0)` is not an id. */
function toLicense(license) {
  return /^[\w.+-]+$/.test(license)
    ? { license: { id: license } }
    : { expression: license.replace(/^\((.*)\)$/, "$1") };
}

/** Of the archives that npm has installed, by `name@version`. */
async function readHashes() {
  const lock = await readFile(join(root, "package-lock.json"), "utf8");
  return new Map(
    Object.entries(JSON.parse(lock).packages).flatMap(
      ([path, { version, integrity }]) => {
        const name = /node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path)?.[1];
        return name === undefined || integrity === undefined
          ? []
          : [[`${name}@${version}`, integrity]];
      },
    ),
  );
}

/** Subresource integrity, such as `sha512-...`, as CycloneDX writes it. */
function toHash(integrity) {
  const [algorithm, text] = integrity.split("-", 2);
  return {
    alg: algorithm === "sha512" ? "SHA-512" : "SHA-1",
    content: Buffer.from(text, "base64").toString("hex"),
  };
}
