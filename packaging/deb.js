/*
 * The Debian package, by dpkg-deb. Why so: docs/decisions/026-debian-package.md
 */
import { execFileSync } from "node:child_process";
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { toComponentList } from "./component-list.js";
import { root, stage } from "./stage.js";

const files = join(root, "packaging/debian");

/** Where the files of packaging/debian are installed, with their modes. */
const installed = [
  ["xo-server.service", "usr/lib/systemd/system/xo-server.service", 0o644],
  ["sysusers.conf", "usr/lib/sysusers.d/xo-server.conf", 0o644],
  ["config.yaml", "etc/xo-server/config.yaml", 0o640],
  ["xo-server.sh", "usr/bin/xo-server", 0o755],
  ["port-443.conf", "usr/share/doc/xo-server/examples/port-443.conf", 0o644],
];

/**
 * @param {{ version: string, output: string, compression?: string, date: Date }} options
 *   output: a folder; compression: of dpkg-deb -Z
 * @returns {Promise<string>} path of the package
 */
export async function buildDeb({ version, output, compression = "xz", date }) {
  const architecture = execFileSync("dpkg", ["--print-architecture"], {
    encoding: "utf8",
  }).trim();
  const folder = await mkdtemp(join(tmpdir(), "xo-server-deb-"));
  try {
    await fill(folder, { version, architecture, date });
    const file = join(output, `xo-server_${version}_${architecture}.deb`);
    execFileSync(
      "dpkg-deb",
      ["--root-owner-group", `-Z${compression}`, "--build", folder, file],
      {
        stdio: ["ignore", "ignore", "inherit"],
        env: {
          ...process.env,
          SOURCE_DATE_EPOCH: String(date.getTime() / 1000),
        },
      },
    );
    return file;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function fill(folder, { version, architecture, date }) {
  await chmod(folder, 0o755);
  const components = await stage(join(folder, "usr/lib/xo-server"), version);
  for (const [name, path, mode] of installed) {
    const to = join(folder, path);
    await mkdir(join(to, ".."), { recursive: true });
    await cp(join(files, name), to);
    await chmod(to, mode);
  }
  await chmod(join(folder, "etc/xo-server"), 0o750);
  await writeFile(
    join(folder, "usr/bin/xo-cli"),
    '#!/bin/sh\nexec /usr/bin/node /usr/lib/xo-server/bin/xo-cli "$@"\n',
    { mode: 0o755 },
  );
  await writeDocumentation(join(folder, "usr/share/doc/xo-server"), {
    version,
    date,
    components,
  });
  await makeReadable(folder);
  await writeControl(folder, { version, architecture });
}

async function writeDocumentation(folder, { version, date, components }) {
  await cp(join(root, "docs"), join(folder, "docs"), {
    recursive: true,
    filter: (path) =>
      !/\/(benchmarks|decisions|denied-words\.json)$/.test(path),
  });
  await cp(
    join(root, "config.yaml.example"),
    join(folder, "config.yaml.example"),
  );
  await cp(
    join(root, "packaging/monitoring"),
    join(folder, "examples/monitoring"),
    {
      recursive: true,
    },
  );
  await writeFile(
    join(folder, "copyright"),
    `xo-server ${version}\n\nThe packages of others that are part of it, and their licenses; texts are in\n/usr/lib/xo-server (LICENSES.txt, and the folders of node_modules):\n\n${toComponentList(components)}\nThe rest: Apache-2.0, see /usr/share/common-licenses/Apache-2.0\n`,
  );
  const entry = `xo-server (${version}) stable; urgency=medium\n\n  * See CHANGELOG.md of the source.\n\n -- xo-server <root@localhost>  ${date.toUTCString().replace("GMT", "+0000")}\n`;
  await writeFile(join(folder, "changelog.gz"), gzipSync(entry, { level: 9 }));
}

/** Whatever the umask of the tree was. */
async function makeReadable(folder) {
  for (const entry of await readdir(join(folder, "usr"), {
    recursive: true,
    withFileTypes: true,
  })) {
    const path = join(entry.parentPath, entry.name);
    const { mode } = await stat(path);
    const isProgram = entry.isDirectory() || (mode & 0o100) !== 0;
    const isIn = /usr\/(bin\/|lib\/xo-server\/bin\/[^/]+$)/.test(path);
    await chmod(
      path,
      entry.isDirectory() || (isProgram && isIn) ? 0o755 : 0o644,
    );
  }
}

async function writeControl(folder, { version, architecture }) {
  const control = join(folder, "DEBIAN");
  await mkdir(control);
  const fields = {
    Package: "xo-server",
    Version: version,
    Architecture: architecture,
    Section: "admin",
    Priority: "optional",
    Maintainer: "xo-server <root@localhost>",
    "Installed-Size": String(await sizeOf(folder)),
    Depends:
      "nodejs (>= 20.19), systemd (>= 247), init-system-helpers (>= 1.52), libc6",
    Suggests: "postgresql, nginx",
    Description: [
      "management server for XenServer and XCP-ng pools",
      " One server, one web page and one API for any number of pools: every host, VM,",
      " disk and network of all of them, live.",
    ].join("\n"),
  };
  const text = Object.entries(fields).map(
    ([name, value]) => `${name}: ${value}\n`,
  );
  await writeFile(join(control, "control"), text.join(""));
  await writeFile(join(control, "conffiles"), "/etc/xo-server/config.yaml\n");
  for (const script of ["postinst", "prerm", "postrm"]) {
    await cp(join(files, script), join(control, script));
    await chmod(join(control, script), 0o755);
  }
}

/** In KiB. */
async function sizeOf(folder) {
  let bytes = 0;
  for (const entry of await readdir(folder, {
    recursive: true,
    withFileTypes: true,
  }))
    if (entry.isFile())
      bytes += (await stat(join(entry.parentPath, entry.name))).size;
  return Math.ceil(bytes / 1024);
}
