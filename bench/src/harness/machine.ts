import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import { repositoryRoot } from "./repository.js";

/** What the figures depend on; no names of hosts or folders, because it is published. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly system: string;
  readonly node: string;
}

/** The machine of a measurement, for its document. */
export function describeMachine(): Machine {
  const all = cpus();
  return {
    cpu: all[0]?.model.trim() ?? "unknown",
    cores: all.length,
    memoryBytes: totalmem(),
    system: `${process.platform} ${process.arch}`,
    node: process.versions.node,
  };
}

/** Versions of the packages that the rows are named after, as installed. */
export function describeVersions(
  names: readonly string[],
): Record<string, string> {
  return Object.fromEntries(
    names.map((name) => [name, installedVersion(name) ?? "not installed"]),
  );
}

/** The commit of the measured sources, with `+` behind it when they were changed since; `unknown` outside of git. */
export function describeCommit(): string {
  try {
    const commit = git("rev-parse", "--short=12", "HEAD").trim();
    // Documents are what a bench writes: they do not make the sources differ.
    const changes = git("status", "--porcelain", "--", ".", ":!docs").trim();
    return changes === "" ? commit : `${commit}+`;
  } catch {
    return "unknown";
  }
}

function git(...args: string[]): string {
  return execFileSync("git", args, {
    cwd: repositoryRoot,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
}

function installedVersion(name: string): string | undefined {
  const require = createRequire(join(repositoryRoot, "package.json"));
  for (const folder of require.resolve.paths(name) ?? []) {
    try {
      const manifest = readFileSync(join(folder, name, "package.json"), "utf8");
      return (JSON.parse(manifest) as { version: string }).version;
    } catch {
      // Not in this folder: try the parent folder.
    }
  }
  return undefined;
}
