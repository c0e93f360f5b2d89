import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { copyFile, mkdir, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Bench } from "../bench.js";
import { createReport } from "../harness/create-report.js";
import type { Figures } from "../harness/figures.js";
import { publish, reportText } from "../harness/publish.js";
import { figureOf, toResult, type Report } from "../harness/result.js";
import { measureInRounds } from "../harness/rounds.js";
import { readRunOptions, runUsage } from "../harness/run-options.js";
import { backupDocument } from "./backup-document.js";
import { changeImage, createImage } from "./disk-image.js";
import type { Engine } from "./engine.js";
import { isInstalled } from "./measured-command.js";
import { SERVER, measureServerRows } from "./measure-server.js";
import { measureNbdReaders } from "./nbd-readers.js";
import { createOurEngine } from "./our-engine.js";
import { borgEngine, pipeEngine, resticEngine } from "./peer-engines.js";

const MIB = 1024 * 1024;
const CHANGED_SHARE = 0.01;

/** A full backup of an image, one of 1 % random change, a restore; beside other programs. */
export const backupBench: Bench = {
  summary: "Backup and restore of a disk, compared with restic and borg.",
  usage: runUsage,
  async run(args) {
    const { runs, out, smoke } = readRunOptions(args, 3);
    const usedMib = smoke ? 8 : 384;
    const folder = await mkdtemp(join(tmpdir(), "xo-bench-backup-"));
    try {
      const image = join(folder, "image");
      await createImage(image, usedMib * MIB);
      const engines = [
        createOurEngine(false),
        createOurEngine(true),
        ...[pipeEngine, resticEngine, borgEngine].filter(({ command = "sh" }) =>
          isInstalled(command),
        ),
      ];
      const measured = await measureInRounds(engines, {
        runs,
        measure: (engine) => measure(engine, { folder, image, usedMib }),
        onRun: ({ name }, outcome) =>
          process.stderr.write(
            `${name} ${outcome instanceof Error ? outcome.message : ""}\n`,
          ),
      });
      const results = [
        ...measured.map((one) =>
          toResult({ pool: "", mode: one.row.name, place: "" }, one),
        ),
        ...(await measureServerRows(folder, { runs, smoke })),
        ...(await measureNbdReaders(folder, {
          runs,
          sizeMib: smoke ? 8 : 2048,
        })),
      ];
      const report = createReport(results, []);
      const document = backupDocument(report);
      process.stdout.write(document);
      if (out !== undefined)
        await publish(out, {
          "backup.md": document,
          "backup.json": reportText(report),
        });
      if (smoke) checkShape(report);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

/** @throws Error where something was not measured */
export function checkShape({ results }: Report): void {
  for (const result of results) {
    if (result.failure !== undefined) throw new Error(result.failure);
    const time = timeOf(result.mode);
    if (!(figureOf(result, time) > 0)) throw new Error("nothing measured");
  }
}

function timeOf(mode: string): string {
  if (mode === SERVER) return "serverMs";
  return mode.startsWith("NBD: ") ? "nbdMs" : "fullMs";
}

/** One round of an engine: full, change, incremental, restore, comparison. */
async function measure(
  engine: Engine,
  source: { folder: string; image: string; usedMib: number },
): Promise<Figures> {
  const folder = join(source.folder, "job");
  await mkdir(folder);
  try {
    const job = { folder, image: join(folder, "image") };
    await copyFile(source.image, job.image);
    await engine.prepare(job);
    const repository = engine.repository(job);
    const empty = await sizeOf(repository);
    const full = await engine.full(job);
    const afterFull = await sizeOf(repository);
    const changed = await changeImage(job.image, {
      used: source.usedMib * MIB,
      share: CHANGED_SHARE,
      seed: 1,
    });
    const incremental = await engine.incremental?.(job, changed);
    const afterIncremental = await sizeOf(repository);
    const target = join(folder, "restored");
    const restore = await engine.restore(job, target);
    const last = engine.incremental === undefined ? source.image : job.image;
    if ((await digestOf(target)) !== (await digestOf(last)))
      throw new Error(`${engine.name} restored other bytes`);
    return {
      usedMib: source.usedMib,
      fullMs: full.ms,
      fullCpuMs: full.cpuMs,
      fullRssMib: full.rssMib,
      fullStoredMib: (afterFull - empty) / MIB,
      changedMib: (changed.length * 64) / 1024,
      ...(incremental && {
        ...(incremental.read !== undefined && {
          incrementalReadMib: incremental.read / MIB,
        }),
        incrementalMs: incremental.ms,
        incrementalCpuMs: incremental.cpuMs,
        incrementalStoredMib: (afterIncremental - afterFull) / MIB,
      }),
      restoreMs: restore.ms,
      restoreCpuMs: restore.cpuMs,
      restoreRssMib: restore.rssMib,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Bytes of all files below a folder. */
async function sizeOf(folder: string): Promise<number> {
  let size = 0;
  for (const entry of await readdir(folder, {
    recursive: true,
    withFileTypes: true,
  }))
    if (entry.isFile())
      size += (await stat(join(entry.parentPath, entry.name))).size;
  return size;
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}
