import { open, type FileHandle } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { AuditRecord } from "@xo-server/store";
import { toAuditLine, type LineOptions } from "./audit-line.js";
import type { AuditTarget } from "./target.js";

/** Beginning of each line that `toAuditLine` returns. */
const LINE_START = '{"time":"';

/**
 * JSON lines in a file. The file is opened for each attempt, because logrotate may
 * move it at any time. Lines that an interrupted attempt has already written are
 * not written again.
 */
export function createFileTarget(url: URL, options: LineOptions): AuditTarget {
  const path = fileURLToPath(url);
  return {
    address: url.href,
    async send(records) {
      const file = await open(path, "a+", 0o600);
      try {
        const tail = await readTail(file, options.maxBytes);
        if (tail.partialBytes > 0)
          await file.truncate(tail.size - tail.partialBytes);
        const lines = records
          .slice(findNext(records, tail.last))
          .map((record) => `${toAuditLine(record, options)}\n`);
        if (tail.isForeign) lines.unshift("\n");
        await file.appendFile(lines.join(""));
        await file.sync();
      } finally {
        await file.close();
      }
    },
  };
}

interface Tail {
  /** Size of the file. */
  readonly size: number;
  /** The last complete line. */
  readonly last: string | undefined;
  /** Size of an incomplete line of this server at the end of the file; 0: none. */
  readonly partialBytes: number;
  /** The file ends with an incomplete line that this server did not write. */
  readonly isForeign: boolean;
}

async function readTail(file: FileHandle, maxBytes: number): Promise<Tail> {
  const { size } = await file.stat();
  // Long enough for a complete line and an incomplete one.
  const length = Math.min(size, 2 * (maxBytes + 1));
  const buffer = Buffer.alloc(length);
  await file.read(buffer, 0, length, size - length);
  const end = buffer.lastIndexOf("\n") + 1;
  const part = buffer.toString("latin1", end);
  const isOurs =
    part !== "" && LINE_START.startsWith(part.slice(0, LINE_START.length));
  const start = buffer.subarray(0, Math.max(end - 1, 0)).lastIndexOf("\n") + 1;
  return {
    size,
    last: end === 0 ? undefined : buffer.toString("latin1", start, end - 1),
    partialBytes: isOurs ? part.length : 0,
    isForeign: part !== "" && !isOurs,
  };
}

/** @returns index of the first record that the file does not have */
function findNext(
  records: readonly AuditRecord[],
  line: string | undefined,
): number {
  if (line === undefined) return 0;
  const hash = /"hash":"([0-9a-f]{64})"/.exec(line)?.[1];
  return records.findIndex((record) => record.hash === hash) + 1;
}
