import type { BlockSource, BlockStream } from "../write/block-source.js";
import { SharedBlocks } from "./shared-blocks.js";
import { SharedStream } from "./shared-stream.js";
import { SHARING_LIMITS } from "./sharing-limits.js";

/** A source that several backups read at the same time; its data is read once. */
export interface SharedSource {
  /** @param reader from 0 */
  view(reader: number): BlockSource | BlockStream;
  /** To be called when a reader has ended, in whatever way. */
  leave(reader: number): void;
}

/**
 * @param readers how many backups read it; each must call `leave`
 * @param signal ends the reading of a stream
 */
export function shareSource(
  content: BlockSource | BlockStream,
  readers: number,
  signal: AbortSignal,
): SharedSource {
  const limits = SHARING_LIMITS;
  return "parts" in content
    ? new SharedStream(content, readers, { limits, signal })
    : new SharedBlocks(content, readers, limits);
}
