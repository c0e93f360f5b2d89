import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PostgresCluster } from "@xo-server/store/conformance";
import type { Test } from "tap";
import { RunningProgram } from "../running-program.js";
import { simulate } from "../simulated.js";

export const PASSWORD = "correct horse battery";

/** One of several servers on a PostgreSQL database. */
export interface GroupMember {
  readonly program: RunningProgram;
  readonly url: string;
}

/** @param bin programs of PostgreSQL, see findPostgres */
export async function startGroup(
  t: Test,
  bin: string,
  size: number,
): Promise<readonly GroupMember[]> {
  const postgres = new PostgresCluster(bin);
  const folder = await mkdtemp(join(tmpdir(), "servers-"));
  t.teardown(async () => {
    await postgres.remove();
    await rm(folder, { recursive: true, force: true });
  });
  await postgres.start();
  await postgres.query("postgres", "create database xo");
  const [pool] = await simulate(t, "--churn", "20");
  const config = `pools: [{ label: P, hosts: ["${pool!.url}"], password: ${pool!.password} }]`;
  const env = { XO_ADMIN_PASSWORD: PASSWORD, XO_STORE: postgres.url("xo") };
  const keyOf = (i: number) => join(folder, String(i), "data/store.key");
  const members: GroupMember[] = [];
  for (let i = 0; i < size; i++) {
    const cwd = join(folder, String(i));
    await mkdir(join(cwd, "data"), { recursive: true });
    await writeFile(join(cwd, "config.yaml"), config);
    if (i > 0) await copyFile(keyOf(0), keyOf(i));
    const args = ["start", "--host", "127.0.0.1", "--port", "0"];
    const program = new RunningProgram(t, "xo-server", args, { cwd, env });
    const url = await program.find(/Web server listening on (http:\S+)/);
    members.push({ program, url });
  }
  return members;
}
