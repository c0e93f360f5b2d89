import { Socket } from "node:net";
import type { Writable } from "node:stream";

/** The file descriptor of a worker that its parent reads as `output`. */
const OUTPUT = 3;

/** What the parent reads. Called once. */
export function openOutput(): Writable {
  // A file stream would fail while the reader is slower: the descriptor does not block.
  return new Socket({ fd: OUTPUT, readable: false, writable: true });
}
