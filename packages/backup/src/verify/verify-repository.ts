import type { Repository } from "../repository/repository.js";
import type { Anchor } from "../log/repository-log.js";
import type { Manifest } from "../format/manifest.js";
import type { Finding } from "./finding.js";
import { addReplacements, judgeMissing } from "./judge-missing.js";
import { findUnknownNames } from "./unknown-names.js";
import { verifyExtents } from "./verify-extents.js";
import { MetadataVerifier } from "./verify-metadata.js";
import { PackVerifier, type FirstPacks } from "./verify-packs.js";

export interface VerifyOptions {
  /** Repairs what copies and parity allow; files that are damaged are moved to quarantine/. */
  readonly repair?: boolean;
  /** Bytes of packs to read at most; undefined: all. */
  readonly budget?: number;
  /** `next` of the last run, so that every pack has its turn. */
  readonly after?: string;
  /** Packs that only backups after another one need are read first, with a budget of their own. */
  readonly first?: {
    /** `order` of the other one, or of the last result. */
    readonly since: number;
    readonly budget?: number | undefined;
    /** `firstNext` of the last run. */
    readonly after?: string | undefined;
  };
  /** The last state that the caller has seen. */
  readonly anchor?: Anchor | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Bytes of packs read so far. */
  readonly onProgress?: (bytes: number) => void;
}

export interface VerifyResult {
  readonly findings: readonly Finding[];
  readonly backups: number;
  /** Bytes of packs that were read. */
  readonly checked: number;
  /** For `after` of the next run; empty: begin again. */
  readonly next: string;
  /** For `first.after` of the next run; empty: all of them were read. */
  readonly firstNext: string;
  /** `order` of the newest backup that was taken into account; its clock may have been wrong. */
  readonly order: number;
}

/**
 * Compares the repository with what was written: all small files, the extents
 * of all backups, and packs up to a budget.
 * @throws RepositoryError `rolled-back`, or `damaged` if the log cannot be read
 */
export async function verifyRepository(
  repository: Repository,
  options: VerifyOptions = {},
): Promise<VerifyResult> {
  const { budget = Infinity, after = "", signal } = options;
  const isReadOnly =
    (await repository.storage.readOnlyReason?.()) !== undefined;
  // What is damaged is reported then, and repaired by a later run.
  const repair = options.repair === true && !isReadOnly;
  if (options.anchor !== undefined)
    await repository.log.checkAnchor(options.anchor);
  // A backup that is committed while this runs may be missing in what is read.
  const order = repository.log.state.lastOrder;
  const metadata = new MetadataVerifier(repository, repair);
  const manifests = await metadata.verify();
  const needed = new Map<string, string[]>();
  for (const { id, packs } of manifests.values())
    for (const pack of packs) {
      const ids = needed.get(pack);
      if (ids === undefined) needed.set(pack, [id]);
      else ids.push(id);
    }
  const backups = [...manifests.values()];
  await addReplacements(repository, { manifests: backups, needed, signal });
  const packs = new PackVerifier(repository, needed, {
    repair,
    budget,
    after,
    first: firstPacks(repository, backups, options.first),
    signal,
    onProgress: options.onProgress,
  });
  await packs.verify();
  const found = await judgeMissing(repository, packs.findings, {
    manifests: backups,
    needed,
    signal,
  });
  const extents = await verifyExtents(repository, backups, signal);
  // What only removed backups needed may have been deleted while this ran.
  const { backups: kept } = await repository.log.refresh();
  const unknown = await findUnknownNames(repository.storage);
  const all = [...metadata.findings, ...unknown, ...found, ...extents];
  const findings = all.filter(
    ({ backups: ids }) => ids.length === 0 || ids.some((id) => kept.has(id)),
  );
  return {
    findings,
    backups: manifests.size,
    checked: packs.checked,
    next: packs.next,
    firstNext: packs.firstNext,
    order,
  };
}

function firstPacks(
  { log: { state } }: Repository,
  manifests: Iterable<Manifest>,
  first: VerifyOptions["first"],
): FirstPacks | undefined {
  if (first === undefined) return undefined;
  const { since, budget = Infinity, after = "" } = first;
  const packs = new Set<string>();
  const older = new Set<string>();
  for (const { id, packs: names } of manifests) {
    const { order = Infinity } = state.backups.get(id) ?? {};
    for (const name of names) (order > since ? packs : older).add(name);
  }
  for (const name of older) packs.delete(name);
  return { packs, budget, after };
}
