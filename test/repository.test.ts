import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import { brokenLinks, linksOf } from "./doc-links.js";

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

interface LockFile {
  readonly packages: Readonly<
    Record<string, { readonly resolved?: string; readonly libc?: string[] }>
  >;
}

const readLockFile = () =>
  JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as LockFile;

t.test("the lock file names no download addresses", async (t) => {
  const wrong = Object.entries(readLockFile().packages).filter(
    ([, { resolved }]) => resolved?.includes("://"),
  );
  t.same(wrong, []);
});

t.test("SQLite is installed for one C library", async (t) => {
  // libsql's packages do not name it themselves: npm would install 10 MB more.
  const found = Object.entries(readLockFile().packages).filter(([name]) =>
    name.startsWith("node_modules/@libsql/linux-"),
  );
  t.ok(found.length >= 4);
  for (const [name, { libc }] of found)
    t.same(libc, [name.includes("musl") ? "musl" : "glibc"], name);
});

t.test(
  "links between the documents, and to their headings, are not broken",
  { skip: noGit },
  async (t) => {
    const documents = files.filter((name) => name.endsWith(".md"));
    t.same(brokenLinks(root, documents), []);
  },
);

t.test("a broken link to a document or a heading is found", async (t) => {
  const folder = t.testdir({
    "a.md":
      "# A `b` (c)\n[1](b.md) [2](b.md#x-1) [3](#a-b-c) [4](https://example.org/x)\n`[5](no.md)`\n[6](no.md) [7](b.md#y) [8](#z)",
    "b.md": "## X\n## X\n```\n# y\n```",
  });
  t.same(
    brokenLinks(folder, ["a.md"]).map(({ target }) => target),
    ["no.md", "b.md#y", "#z"],
  );
});

t.test(
  "a picture in docs is shown by a document",
  { skip: noGit },
  async (t) => {
    const shown = files
      .filter((file) => file.endsWith(".md"))
      .flatMap((file) =>
        linksOf(readFileSync(join(root, file), "utf8")).map((target) =>
          join(dirname(file), target),
        ),
      );
    const pictures = files.filter((file) =>
      /^docs\/.*\.(svg|png|jpe?g|webp)$/.test(file),
    );
    t.ok(pictures.length > 0);
    t.same(
      pictures.filter((picture) => !shown.includes(picture)),
      [],
    );
  },
);

t.test("the index names every document", { skip: noGit }, async (t) => {
  const index = linksOf(readFileSync(join(root, "docs/README.md"), "utf8"));
  const documents = files
    .filter((file) => /^docs\/[^/]+\.md$/.test(file))
    .map((file) => file.replace("docs/", ""));
  t.same(
    documents.filter((name) => name !== "README.md" && !index.includes(name)),
    [],
  );
});

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
