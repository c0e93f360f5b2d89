/*
 * The files of the installed program, in one folder: the bundled programs, the built
 * page, and the packages that the bundle loads at run time. Nothing is downloaded.
 */
import { existsSync } from "node:fs";
import { chmod, cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { readLicenseTexts } from "./license-texts.js";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** What the programs read of our own packages, beside the bundle. */
const ownFiles = {
  "xo-server": ["package.json", "rest-docs"],
  "xo-cli": ["package.json"],
  "xo-web": ["package.json", "dist"],
  model: ["package.json", "data"],
};

/** @typedef {{ name: string, version: string, license: string }} Component */

/**
 * @param {string} target a folder that does not exist
 * @param {string} version of the package
 * @returns {Promise<Component[]>} the packages of others that are part of it
 * @throws if the tree is not built
 */
export async function stage(target, version) {
  checkBuilt();
  for (const folder of ["bin", "node_modules"])
    await mkdir(join(target, folder), { recursive: true });
  for (const program of ["xo-server", "xo-cli", "xapi-sim"]) {
    await cp(join(root, "bin", program), join(target, "bin", program));
    await chmod(join(target, "bin", program), 0o755);
  }
  const loader = "bin/load-program.js";
  await cp(join(root, loader), join(target, loader));
  await cp(join(root, "bin/dist"), join(target, "bin/dist"), {
    recursive: true,
    filter: (path) => !/(\.map|external\.json|inputs\.json)$/.test(path),
  });
  for (const [name, files] of Object.entries(ownFiles))
    await copyOwn(name, files, { target, version });
  const external = await readJson(join(root, "bin/dist/external.json"));
  const folders = closureOf(external);
  for (const folder of folders) await copyPackage(folder, target);
  await cp(join(root, "LICENSE"), join(target, "LICENSE"));
  await writeFile(
    join(target, "package.json"),
    `${JSON.stringify({ name: "xo-server", version, private: true, type: "module" }, null, 2)}\n`,
  );
  return componentsOf(folders);
}

function checkBuilt() {
  for (const file of [
    "bin/dist/xo-server.cjs",
    "packages/xo-web/dist/index.html",
  ])
    if (!existsSync(join(root, file)))
      throw new Error(`${file} is missing: run npm ci, or npm run build`);
}

async function copyOwn(name, files, { target, version }) {
  const from = join(root, "packages", name);
  const to = join(target, "node_modules/@xo-server", name);
  for (const file of files)
    await cp(join(from, file), join(to, file), { recursive: true });
  const manifest = await readJson(join(from, "package.json"));
  await writeFile(
    join(to, "package.json"),
    `${JSON.stringify({ ...manifest, version }, null, 2)}\n`,
  );
}

/** Folders of these packages and of what they depend on, as far as it is for this machine. */
function closureOf(names) {
  const folders = new Set();
  const add = (name, from, isOptional) => {
    const folder = findPackage(name, from);
    if (folder === undefined) {
      if (isOptional) return;
      throw new Error(`${name}, which ${from} needs, is not installed`);
    }
    const manifest = createRequire(import.meta.url)(
      join(folder, "package.json"),
    );
    if (folders.has(folder) || !isForThisMachine(manifest)) return;
    folders.add(folder);
    const { dependencies = {}, optionalDependencies = {} } = manifest;
    for (const other of Object.keys(dependencies))
      add(other, folder, Object.hasOwn(optionalDependencies, other));
    for (const other of Object.keys(optionalDependencies))
      add(other, folder, true);
  };
  for (const name of names) add(name, root, false);
  return [...folders].toSorted();
}

/** As Node.js does: in node_modules of the folder and of those above. */
function findPackage(name, from) {
  const folder = join(from, "node_modules", name);
  if (existsSync(join(folder, "package.json"))) return folder;
  return from === root ? undefined : findPackage(name, dirname(from));
}

function isForThisMachine({ name, os, cpu, libc }) {
  const { glibcVersionRuntime } = process.report.getReport().header;
  const family = glibcVersionRuntime === undefined ? "musl" : "glibc";
  const built = /-(gnu|musl)$/.exec(name)?.[1];
  const libcs = libc ?? (built && [built === "gnu" ? "glibc" : "musl"]);
  return (
    (os ?? [process.platform]).includes(process.platform) &&
    (cpu ?? [process.arch]).includes(process.arch) &&
    (libcs ?? [family]).includes(family)
  );
}

/** Without what only its developers need. */
async function copyPackage(folder, target) {
  const path = folder.slice(join(root, "node_modules").length);
  await cp(folder, join(target, "node_modules", path), {
    recursive: true,
    filter: (from) => {
      if (from === folder) return true;
      const name = basename(from);
      if (
        dirname(from) === folder &&
        /^(test|tests|test-jest|docs|benchmark|examples?|scripts|node_modules|\..*)$/.test(
          name,
        )
      )
        return false;
      return !/\.(map|d\.[cm]?ts)$/.test(name);
    },
  });
}

async function componentsOf(folders) {
  const copied = await Promise.all(
    folders.map((folder) => readJson(join(folder, "package.json"))),
  );
  const texts = await Promise.all(
    ["bin/dist", "packages/xo-web/dist"].map((folder) =>
      readFile(join(root, folder, "LICENSES.txt"), "utf8"),
    ),
  );
  const all = [
    ...texts.flatMap(readLicenseTexts),
    ...copied.map(({ name, version, license }) => ({ name, version, license })),
  ];
  const unique = new Map(all.map((one) => [`${one.name}@${one.version}`, one]));
  return [...unique.keys()].toSorted().map((key) => unique.get(key));
}

async function readJson(path) {
  return JSON.parse(await readFile(path, "utf8"));
}
