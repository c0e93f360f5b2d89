import { RepositoryError } from "../errors.js";
import { ChunkTable } from "../repository/chunk-table.js";
import type { Repository } from "../repository/repository.js";
import { runConcurrently } from "../run-concurrently.js";

const CONCURRENCY = 8;

/** What a backup may refer to. */
interface KnownPacks {
  readonly table: ChunkTable;
  /** Packs that exist and whose index can be read: those of the base may be used although they are marked. */
  readonly readable: ReadonlySet<string>;
}

/**
 * Reads the indexes of all packs. Packs that garbage collection has marked
 * are not used for new chunks; damaged ones are not used at all.
 */
export async function loadChunkTable(
  repository: Repository,
  signal?: AbortSignal,
): Promise<KnownPacks> {
  const { marked, removing } = repository.log.state;
  const table = new ChunkTable();
  const readable = new Set<string>();
  const files = await repository.packs.list();
  await runConcurrently(files, CONCURRENCY, async ({ name: file, size }) => {
    signal?.throwIfAborted();
    if (removing.has(file)) return;
    const name = file.slice(file.lastIndexOf("/") + 1);
    try {
      const index = await repository.packs.readIndex(name, size);
      readable.add(name);
      if (marked.has(file)) return;
      const number = table.addPack(name);
      for (let i = 0; i < index.count && !table.isFull; i++)
        table.add(index.id(i), number, i);
    } catch (error) {
      if (!(error instanceof RepositoryError)) throw error;
      // Damaged or just deleted: its chunks are stored again.
    }
  });
  return { table, readable };
}
