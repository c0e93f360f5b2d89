import type { BackupOperation, BackupOrderResult } from "@xo-server/backup";
import type { Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { TaskContext } from "../../tasks/task-context.js";
import type { BackupBody } from "../../jobs/job-body.js";
import type { DiskLogEntry } from "../report/backup-log.js";
import { chooseBase, type BaseChoice } from "./base-choice.js";
import {
  chooseSource,
  differencesInstead,
  exportInstead,
  streamInstead,
  type DiskSource,
  type SourceRequest,
} from "./disk-source.js";
import type { ArchiveAccess, RepositoryAccess } from "./repository-access.js";
import type { VmContents, VmDisk } from "./vm-records.js";
import type { SnapshotDisk } from "./vm-snapshots.js";
import { ownedSignal } from "../../tasks/owned-signal.js";

export interface StoreParts {
  readonly xapi: Xapi;
  readonly repositories: RepositoryAccess;
  readonly archives: ArchiveAccess;
  readonly work: TaskContext;
}

export interface StoreRequest {
  readonly job: string;
  readonly run: string;
  /** UUID. */
  readonly vm: string;
  readonly repository: string;
  readonly settings: BackupBody;
  readonly contents: VmContents;
  /** The snapshot of the VM. */
  readonly snapshot: Ref;
  readonly snapshotDisks: readonly SnapshotDisk[];
  /** Properties of the manifest, without the mode. */
  readonly properties: Readonly<Record<string, unknown>>;
}

/** A backup that was stored. */
export interface StoreResult {
  readonly backup: string;
  readonly mode: "full" | "incremental";
  readonly disks: readonly DiskLogEntry[];
  readonly incrementals: number;
}

/** A disk, and its source. */
interface Planned {
  readonly disk: VmDisk;
  readonly request: SourceRequest;
  readonly source: DiskSource;
}

/** Codes of errors of a source that another source may not have. */
const SOURCE_PROBLEMS = new Set([
  "base-unusable",
  "source-invalid",
  "transfer-failed",
  "untrusted",
]);

/** Reads the snapshot of a VM into one repository. @throws XapiError, XoError */
export async function storeBackup(
  parts: StoreParts,
  request: StoreRequest,
): Promise<StoreResult> {
  const { xapi, archives } = parts;
  const { job, run, vm, repository, settings, contents } = request;
  const base = await chooseBase(xapi, archives, {
    job,
    run,
    vm,
    repository,
    disks: contents.disks,
    isFull: settings.mode === "full",
    fullInterval: settings.fullInterval,
  });
  const planned = await planSources(xapi, request, base);
  let plan = { planned, base: base as BaseChoice | undefined };
  for (const alternative of alternativesTo(planned))
    try {
      return await order(parts, request, plan);
    } catch (error) {
      const reason = sourceProblem(error);
      if (reason === undefined || parts.work.signal.aborted) throw error;
      parts.work.warn(`disks are read again ${alternative.how}: ${reason}`);
      const sources = await alternative.choose(
        xapi,
        planned.map((one) => one.request),
        { vm: request.snapshot, reason },
      );
      const again = planned.map((one, i) => ({ ...one, source: sources[i]! }));
      plan = { planned: again, base: alternative.keepsBase ? base : undefined };
    }
  return order(parts, request, plan);
}

interface Alternative {
  readonly how: string;
  readonly choose: typeof exportInstead;
  /** Whether differences are read; else everything is. */
  readonly keepsBase: boolean;
}

const DIFFERENCES: Alternative = {
  how: "as differences",
  choose: differencesInstead,
  keepsBase: true,
};
const STREAMS: Alternative = {
  how: "as streams",
  choose: streamInstead,
  keepsBase: false,
};
const EXPORT: Alternative = {
  how: "from the export of the VM",
  choose: exportInstead,
  keepsBase: false,
};

/** What is tried when a source fails while it is read, in this order. */
function alternativesTo(planned: readonly Planned[]): readonly Alternative[] {
  const sources = planned.map(({ source }) => source);
  if (sources.every(isPlainStream)) return [EXPORT];
  return sources.some(({ kind }) => kind === "nbd-changed")
    ? [DIFFERENCES, STREAMS, EXPORT]
    : [STREAMS, EXPORT];
}

/** @throws XapiError */
export async function planSources(
  xapi: Xapi,
  {
    contents,
    snapshotDisks,
    settings,
  }: Pick<StoreRequest, "contents" | "snapshotDisks" | "settings">,
  base: BaseChoice,
): Promise<Planned[]> {
  const planned: Planned[] = [];
  for (const disk of contents.disks) {
    const snapshot = snapshotDisks.find((one) => one.of === disk.vdi);
    // Attached after the snapshot was taken.
    if (snapshot === undefined) continue;
    const request: SourceRequest = {
      disk,
      snapshot,
      base: base.disks.get(disk.uuid),
      noBase: base.problems.get(disk.uuid),
      body: settings,
    };
    const source = await chooseSource(xapi, request);
    planned.push({ disk, request, source });
  }
  return planned;
}

async function order(
  { repositories, work }: StoreParts,
  { repository, settings, properties, run, vm }: StoreRequest,
  {
    planned,
    base,
  }: {
    readonly planned: readonly Planned[];
    readonly base: BaseChoice | undefined;
  },
): Promise<StoreResult> {
  const { isIncremental, ...content } = toContent(settings, planned);
  const mode = isIncremental ? "incremental" : "full";
  const backup: BackupOperation = {
    type: "backup",
    properties: { ...properties, mode },
    key: keyOf({ run, vm }),
    ...(isIncremental && base?.backup !== undefined
      ? { base: base.backup }
      : {}),
    ...content,
  };
  const written = await repositories.run(repository, backup, {
    signal: ownedSignal(work),
    onProgress({ done = 0, total = 0 }) {
      if (total > 0) work.progress(Math.min(1, done / total));
    },
  });
  const incrementals = isIncremental ? (base?.incrementals ?? 0) + 1 : 0;
  return toResult(written, { mode, planned, incrementals });
}

/** Each run stores a VM once in a repository, also if two servers take it for theirs. */
export function keyOf({ run, vm }: Pick<StoreRequest, "run" | "vm">): string {
  return `run ${run} VM ${vm}`;
}

/** The content to read, and its sources. */
export function toContent(
  { maxRate }: BackupBody,
  planned: readonly Planned[],
): Pick<BackupOperation, "disks" | "maxBytesPerSecond"> & {
  readonly isIncremental: boolean;
} {
  return {
    isIncremental: planned.some(({ source }) => usesBase(source)),
    ...(maxRate === undefined ? {} : { maxBytesPerSecond: maxRate }),
    disks: planned.map(({ disk, source }) => ({
      name: disk.uuid,
      size: disk.size,
      properties: disk.properties,
      ...source.input,
    })),
  };
}

/**
 * @param written what the worker wrote
 * @param incrementals number of incremental backups since the last full one, this
 *   one included
 */
export function toResult(
  written: BackupOrderResult,
  {
    mode,
    planned,
    incrementals,
  }: Pick<StoreResult, "mode" | "incrementals"> & {
    readonly planned: readonly Planned[];
  },
): StoreResult {
  const disks = planned.map((one) => toLogEntry(one, written));
  return { backup: written.id, mode, disks, incrementals };
}

function toLogEntry(
  { disk, source }: Planned,
  { disks }: BackupOrderResult,
): DiskLogEntry {
  const written = disks.find(({ name }) => name === disk.uuid);
  const { read, changed, stored, mismatches = 0 } = written ?? {};
  return {
    vdi: disk.uuid,
    name: disk.name,
    size: disk.size,
    source: source.kind,
    ...(source.reasons.length === 0 ? {} : { reasons: source.reasons }),
    ...(read === undefined ? {} : { read }),
    ...(changed === undefined ? {} : { changed }),
    ...(stored === undefined ? {} : { stored }),
    ...(mismatches === 0 ? {} : { mismatches }),
  };
}

function usesBase({ kind }: DiskSource): boolean {
  return kind === "nbd-changed" || kind === "vhd-delta";
}

function isPlainStream({ kind }: DiskSource): boolean {
  return kind === "vhd" || kind === "raw";
}

/** @returns undefined: another source would fail too */
export function sourceProblem(error: unknown): string | undefined {
  const { code, cause, data, message } = error as {
    readonly code?: unknown;
    readonly cause?: { readonly code?: unknown };
    readonly data?: { readonly code?: unknown };
    readonly message?: unknown;
  };
  const codes = [code, cause?.code, data?.code].map(String);
  return codes.some((one) => SOURCE_PROBLEMS.has(one))
    ? String(message)
    : undefined;
}
