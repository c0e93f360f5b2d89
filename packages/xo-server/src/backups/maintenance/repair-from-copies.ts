import type { Finding, RepairResult, VerifyResult } from "@xo-server/backup";
import type { Logger } from "@xo-server/kit";
import type { TaskContext } from "../../tasks/task-context.js";
import type { Archives } from "../archives/archives.js";
import type { MirrorProperty } from "../mirror/mirror-index.js";
import type { Repositories } from "../repositories/repositories.js";
import type { RepositoryRecord } from "../repositories/repository-record.js";

interface RepairParts {
  readonly repositories: Pick<Repositories, "all" | "get" | "accessOf" | "run">;
  readonly archives: Pick<Archives, "list">;
  readonly logger: Pick<Logger, "warn">;
}

const PACK = /^packs\/..\/([0-9a-f]{64})$/;

/**
 * Repairs damaged packs that parity could not repair, from repositories that
 * contain copies of their backups, or the backups that these are copies of. A
 * repository that cannot be used is skipped.
 * @param id of the repository that was verified
 * @returns the result including the new repairs
 */
export async function repairFromCopies(
  parts: RepairParts,
  { id, result }: { readonly id: string; readonly result: VerifyResult },
  { signal }: Pick<TaskContext, "signal">,
): Promise<VerifyResult> {
  const repaired = new Set<string>();
  const isOpen = ({ file, isRepaired }: Finding) =>
    !isRepaired && !repaired.has(file) && PACK.test(file);
  const { repositories, archives, logger } = parts;
  const record = repositories.get(id);
  for (const other of repositories.all()) {
    if (other.id === id || !other.enabled) continue;
    const open = result.findings.filter(isOpen);
    if (open.length === 0) break;
    const needing = new Set(open.flatMap(({ backups }) => backups));
    const all = await copiesBetween(archives, record, other);
    const copies = [...all].filter(([backup]) => needing.has(backup));
    if (copies.length === 0) continue;
    const packs = open.map(({ file }) => PACK.exec(file)![1]!);
    try {
      const { repaired: files } = await repositories.run<RepairResult>(
        id,
        {
          type: "repair",
          source: repositories.accessOf(other.id),
          packs,
          copies: Object.fromEntries(copies),
        },
        { signal },
      );
      for (const file of files) repaired.add(file);
    } catch (error) {
      signal.throwIfAborted();
      logger.warn(
        `backup repository ${record.name}: nothing was repaired from ${other.name}`,
        { error },
      );
    }
  }
  const findings = result.findings.map((finding) =>
    repaired.has(finding.file) ? { ...finding, isRepaired: true } : finding,
  );
  return { ...result, findings };
}

/** Ids of backups of `other` with the same content, by the ids of the backups of `record`. */
async function copiesBetween(
  archives: RepairParts["archives"],
  record: RepositoryRecord,
  other: RepositoryRecord,
): Promise<ReadonlyMap<string, string>> {
  const copies = new Map<string, string>();
  const of = ({ id, state }: RepositoryRecord) => state.repository ?? id;
  for await (const page of archives.list({ repository: other.id }))
    for (const { backup, properties } of page) {
      const { mirror } = properties as { mirror?: MirrorProperty };
      if (mirror?.repository === of(record)) copies.set(mirror.backup, backup);
    }
  for await (const page of archives.list({ repository: record.id }))
    for (const { backup, properties } of page) {
      const { mirror } = properties as { mirror?: MirrorProperty };
      if (mirror?.repository === of(other)) copies.set(backup, mirror.backup);
    }
  return copies;
}
