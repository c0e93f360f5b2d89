import { generateKeyPairSync, sign } from "node:crypto";
import { existsSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { encodeChangedBlocks } from "@xo-server/backup";
import { repositoryRoot } from "../harness/repository.js";
import type { Range } from "./disk-image.js";
import type { Engine, Job } from "./engine.js";
import { measureScript, type Cost } from "./measured-command.js";

/** As the server starts it: bundled. Without `npm run bundle` the compiled one, which takes longer to start. */
const program = [
  "bin/dist/worker-program.cjs",
  "packages/backup/dist/src/worker/worker-program.js",
]
  .map((path) => join(repositoryRoot, path))
  .find(existsSync)!;

/** The worker of packages/backup, started as the server starts it, a process for each step. */
export function createOurEngine(parity: boolean): Engine {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const der = publicKey.export({ format: "der", type: "spki" });
  let recoveryKey = "";
  let last = "";
  const repository = ({ folder }: Job) => join(folder, "repository");

  async function run(job: Job, operation: object): Promise<Cost> {
    const order = JSON.stringify({
      version: 1,
      expires: new Date(Date.now() + 3_600_000).toISOString(),
      storage: { type: "folder", path: repository(job) },
      ...(recoveryKey !== "" && { recoveryKey }),
      operation,
    });
    const signature = sign(null, Buffer.from(order), privateKey);
    return measureScript(
      `"${process.execPath}" "${program}" ${der.toString("base64")}`,
      {
        stdin: JSON.stringify({
          order,
          signature: signature.toString("base64"),
        }),
        env: { MALLOC_ARENA_MAX: "2" },
      },
    );
  }

  async function backUp(job: Job, more: object, disk: object): Promise<Cost> {
    const cost = await run(job, {
      type: "backup",
      properties: {},
      disks: [
        { name: "disk", source: { type: "image", path: job.image }, ...disk },
      ],
      ...more,
    });
    const { id, statistics } = resultOf(cost) as {
      id: string;
      statistics: { read: number };
    };
    last = id;
    return { ...cost, read: statistics.read };
  }

  return {
    name: parity ? "xo-server, parity" : "xo-server",
    repository,
    async prepare(job) {
      recoveryKey = "";
      // A worker does not create the folder: it may be a mount that is missing.
      mkdirSync(repository(job), { recursive: true });
      const created = await run(job, {
        type: "create",
        passphrase: "benchmark",
        parity,
      });
      const { recoverySheet } = resultOf(created) as { recoverySheet: string };
      recoveryKey = /((?:[A-Z2-7]{4}-?){7})\n\s+((?:[A-Z2-7]{4}-?){7})/
        .exec(recoverySheet)!
        .slice(1)
        .join("-");
    },
    full: (job) => backUp(job, {}, {}),
    incremental: (job, changed: readonly Range[]) =>
      backUp(job, { base: last }, changesOf(job, changed)),
    restore: (job, target) =>
      run(job, {
        type: "restore",
        backup: last,
        disk: "disk",
        target: { type: "file", path: target, mode: "new" },
      }),
  };
}

function changesOf({ image }: Job, changed: readonly Range[]): object {
  return { changedBlocks: encodeChangedBlocks(changed, statSync(image).size) };
}

function resultOf({ stdout }: Cost): unknown {
  const line = stdout.trim().split("\n").at(-1)!;
  return (JSON.parse(line) as { result: unknown }).result;
}
