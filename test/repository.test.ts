import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";

const root = findRoot(dirname(fileURLToPath(import.meta.url)));
const files = trackedFiles();
const noGit =
  files.length === 0 && "this copy has no git history to list files by";

t.test(
  "no file names a registry host or a path of a machine",
  { skip: noGit },
  async (t) => {
    const forbidden = new RegExp(
      [
        "registry\\.npm" + "js",
        "registry\\.yarn" + "pkg",
        "/work/" + "main",
        "/home/[a-z]+/",
      ].join("|"),
    );
    const wrong = files
      .filter((file) => /\.(ts|js|vue|json|md|ya?ml|sh)$|^\.|^bin\//.test(file))
      .filter((file) => forbidden.test(readFileSync(join(root, file), "utf8")));
    t.same(wrong, []);
  },
);

t.test("the lock file names no download addresses", async (t) => {
  const lock = JSON.parse(
    readFileSync(join(root, "package-lock.json"), "utf8"),
  ) as {
    packages: Record<string, { resolved?: string }>;
  };
  const wrong = Object.entries(lock.packages).filter(([, { resolved }]) =>
    resolved?.includes("://"),
  );
  t.same(wrong, []);
});

t.test(
  "links between the documents lead somewhere",
  { skip: noGit },
  async (t) => {
    const broken: string[] = [];
    for (const file of files.filter((name) => name.endsWith(".md"))) {
      const text = readFileSync(join(root, file), "utf8");
      for (const [, target] of text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)) {
        if (/^[a-z]+:/.test(target!)) continue;
        if (!existsSync(join(root, dirname(file), target!)))
          broken.push(`${file}: ${target}`);
      }
    }
    t.same(broken, []);
  },
);

t.test("every package is described in a README", { skip: noGit }, async (t) => {
  const folders = new Set(
    files.flatMap((file) => /^packages\/[^/]+/.exec(file) ?? []),
  );
  for (const folder of folders)
    t.ok(existsSync(join(root, folder, "README.md")), folder);
});

function findRoot(from: string): string {
  return existsSync(join(from, "packages")) ? from : findRoot(dirname(from));
}

function trackedFiles(): string[] {
  try {
    return execFileSync("git", ["ls-files", "-z"], {
      cwd: root,
      encoding: "utf8",
    })
      .split("\0")
      .filter((file) => file !== "" && existsSync(join(root, file)));
  } catch {
    return [];
  }
}
