import type { SequencePosition } from "./block-source.js";
import type { DiskInput } from "./write-disk.js";

/**
 * The disks in the order in which they can be written: as they are, but those that arrive in one
 * stream as they arrive. Each has to be written before the next one is requested.
 */
export async function* inOrderOfArrival(
  disks: readonly DiskInput[],
): AsyncGenerator<DiskInput, void> {
  const left = new Set(disks);
  for (const disk of disks) {
    if (!left.has(disk)) continue;
    const sequence = positionOf(disk)?.sequence;
    if (sequence !== undefined) {
      for (let i = 0; ; i++) {
        const name = await sequence.nameAt(i);
        if (name === undefined) break;
        const next = [...left].find((one) => {
          const position = positionOf(one);
          return position?.sequence === sequence && position.name === name;
        });
        if (next === undefined) continue;
        left.delete(next);
        yield next;
      }
      // It has not arrived: its stream has the reason.
      if (!left.has(disk)) continue;
    }
    left.delete(disk);
    yield disk;
  }
}

function positionOf({ source }: DiskInput): SequencePosition | undefined {
  return "parts" in source ? source.position : undefined;
}
