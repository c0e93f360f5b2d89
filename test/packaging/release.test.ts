import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { root, RunningProgram } from "../running-program.js";
import { buildPackage, missingBuild, missingProgram } from "./package-tree.js";

t.comment("timeout=240000");

const skip = missingBuild();

async function createFolder(t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "xo-server-release-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

t.test("the archive runs where it is unpacked", { skip }, async (t) => {
  const output = await createFolder(t);
  const file = buildPackage(
    "tarball",
    "--output",
    output,
    "--version",
    "1.2.3",
  );
  extractAsDocumented(file, output);
  const program = join(output, "xo-server/bin/xo-server");
  const version = new RunningProgram(t, program, ["--version"]);
  t.equal(await version.ended, 0);
  t.equal(version.output, "1.2.3");
  const server = new RunningProgram(t, program, [
    "start",
    "--demo",
    "C",
    "--host",
    "127.0.0.1",
    "--port",
    "0",
  ]);
  const url = await server.find(/Web server listening on (http:\S+)/);
  const page = await fetch(url);
  t.match(await page.text(), "<title>", "with the page");
  const metrics = await (await fetch(`${url}/metrics`)).text();
  t.match(metrics, /^xo_build_info\{version="1\.2\.3"/m);
  t.match(metrics, /^xo_parser_webassembly 1$/m);
  t.equal(await server.stop(), 0);
});

/** Runs the commands of docs/install.md that unpack the archive, for `folder` in place of /usr/lib. */
function extractAsDocumented(file: string, folder: string): void {
  const lines = readFileSync(join(root, "docs/install.md"), "utf8").split("\n");
  const tar = lines.findIndex((line) => line.startsWith("sudo tar "));
  const commands = lines
    .slice(tar - 1, tar + 1)
    .join("\n")
    .replaceAll("sudo ", "")
    .replaceAll("/usr/lib", folder)
    .replace(/--file=\S+/, `--file=${file}`);
  execFileSync("sh", ["-e", "-c", commands]);
}

interface Bom {
  readonly bomFormat: string;
  readonly components: readonly {
    readonly name: string;
    readonly version: string;
    readonly purl: string;
    readonly licenses: readonly object[];
  }[];
}

t.test("SBOM, licenses and checksums", { skip }, async (t) => {
  const output = await createFolder(t);
  const options = ["--output", output];
  const bom = JSON.parse(
    readFileSync(buildPackage("sbom", ...options), "utf8"),
  ) as Bom;
  t.equal(bom.bomFormat, "CycloneDX");
  const names = bom.components.map(({ purl }) => purl);
  t.equal(new Set(names).size, names.length);
  for (const [what, name] of [
    ["bundled", "pkg:npm/fastify@"],
    ["in the page", "pkg:npm/vue-router@"],
    ["copied", "pkg:npm/libsql@"],
  ])
    t.ok(
      names.some((one) => one.startsWith(name!)),
      `${what}: ${name}`,
    );
  t.notOk(
    names.some((name) =>
      /npm\/(typescript|esbuild|vite|tap|eslint)@/.test(name),
    ),
    "nothing that only builds or tests",
  );

  const licenses = readFileSync(buildPackage("licenses", ...options), "utf8");
  const lines = licenses.trimEnd().split("\n");
  t.equal(lines.length, names.length);
  const free =
    /: \(?(MIT|ISC|0BSD|BSD-\d-Clause|Apache-2\.0|MPL-2\.0|Python-2\.0|BlueOak-1\.0\.0|Unlicense|CC0-1\.0|WTFPL)\b/;
  t.same(
    lines.filter((line) => !free.test(line)),
    [],
    "each license is known and permits the distribution",
  );

  buildPackage("checksums", ...options);
  execFileSync("sha256sum", ["--check", "--quiet", "SHA256SUMS"], {
    cwd: output,
  });
});

t.test(
  "the Containerfile follows the rules of hadolint",
  { skip: missingProgram("hadolint") },
  async (t) => {
    const file = join(root, "packaging/container/Containerfile");
    t.equal(execFileSync("hadolint", [file], { encoding: "utf8" }), "");
  },
);
