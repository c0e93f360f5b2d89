import { Socket } from "node:net";
import type { Readable } from "node:stream";

/** The file descriptor of a worker that its parent writes to as `input`. */
const INPUT = 4;

/** What the parent sends. Called once. */
export function openInput(): Readable {
  return new Socket({ fd: INPUT, readable: true, writable: false });
}
