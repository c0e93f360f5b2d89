import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Test } from "tap";
import type { ApiSession } from "../api-session.js";

export const PASSPHRASE = "passphrase of the tests";

/** An empty folder, removed with the test. */
export async function emptyFolder(t: Test, name = "r"): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), "xo-backup-test-"));
  t.teardown(() => rm(parent, { recursive: true, force: true }));
  const folder = join(parent, name);
  await mkdir(folder);
  return folder;
}

export interface CreatedRepository {
  readonly id: string;
  readonly folder: string;
  readonly recoverySheet: string;
  readonly recoveryKey: string;
}

/** A new repository in a folder of its own. */
export async function createRepository(
  t: Test,
  api: ApiSession,
  { name = "nightly", parity = false } = {},
): Promise<CreatedRepository> {
  const folder = await emptyFolder(t);
  const { id, recoverySheet } = (await api.request("remote.create", {
    name,
    url: `file://${folder}`,
    passphrase: PASSPHRASE,
    parity,
  })) as { id: string; recoverySheet: string };
  const recoveryKey = [...recoverySheet.matchAll(/^ {4}([A-Z2-7-]{34})$/gm)]
    .map(([, half]) => half)
    .join("-");
  return { id, folder, recoverySheet, recoveryKey };
}
