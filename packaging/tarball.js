/*
 * One file for machines without dpkg: the program, an installation script's worth of
 * files (unit, sysusers, configuration) and the documentation, in one folder.
 */
import { execFileSync } from "node:child_process";
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root, stage } from "./stage.js";

/**
 * @param {{ version: string, output: string, date: Date }} options
 * @returns {Promise<string>} path of the archive
 */
export async function buildTarball({ version, output, date }) {
  const name = `xo-server-${version}-${process.platform}-${process.arch}`;
  const folder = await mkdtemp(join(tmpdir(), "xo-server-tar-"));
  try {
    await stage(join(folder, name), version);
    const service = join(folder, name, "service");
    await mkdir(service);
    for (const file of [
      "xo-server.service",
      "port-443.conf",
      "sysusers.conf",
      "config.yaml",
    ])
      await cp(join(root, "packaging/debian", file), join(service, file));
    await cp(
      join(root, "config.yaml.example"),
      join(folder, name, "config.yaml.example"),
    );
    const file = join(output, `${name}.tar.gz`);
    // Sorted, and without owners and times: the same tree gives the same bytes.
    execFileSync("tar", [
      "--create",
      `--file=${file}`,
      "--use-compress-program=gzip -9n",
      "--sort=name",
      "--owner=0",
      "--group=0",
      "--numeric-owner",
      "--mode=u=rwX,go=rX",
      `--mtime=@${date.getTime() / 1000}`,
      `--directory=${folder}`,
      name,
    ]);
    return file;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
