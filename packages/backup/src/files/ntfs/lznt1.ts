import { damaged } from "../model/file-system-error.js";

const CHUNK = 4096;

/**
 * Decompresses one unit of a compressed file. Source: [MS-XCA] 2.5, LZNT1.
 * @param size bytes of the unit
 * @returns exactly `size` bytes; what the input does not have is zero
 * @throws FileSystemError `file-system-damaged`
 */
export function decompressLznt1(input: Buffer, size: number): Buffer {
  const output = Buffer.alloc(size);
  let at = 0;
  // Each chunk begins at a multiple of its size, also if the one before is shorter.
  for (let start = 0; start < size && at + 2 <= input.length; start += CHUNK) {
    const header = input.readUInt16LE(at);
    if (header === 0) break;
    const end = at + 3 + (header & 0xfff);
    if (end > input.length) throw damaged("a compressed file is cut");
    const chunk = input.subarray(at + 2, end);
    const room = output.subarray(start, start + CHUNK);
    if ((header & 0x8000) === 0) chunk.copy(room);
    else decompressChunk(chunk, room);
    at = end;
  }
  return output;
}

function decompressChunk(input: Buffer, output: Buffer): void {
  let done = 0;
  for (let at = 0; at < input.length;) {
    const flags = input[at++]!;
    for (let bit = 0; bit < 8 && at < input.length; bit++) {
      if (done >= output.length) return;
      if ((flags & (1 << bit)) === 0) {
        output[done++] = input[at++]!;
        continue;
      }
      if (at + 2 > input.length) throw damaged("a compressed file is cut");
      const token = input.readUInt16LE(at);
      at += 2;
      const lengthBits = lengthBitsAt(done);
      const length = (token & ((1 << lengthBits) - 1)) + 3;
      const distance = (token >> lengthBits) + 1;
      if (distance > done)
        throw damaged("a compressed file refers to bytes before it");
      // Ranges may overlap: bytes are repeated.
      const end = Math.min(output.length, done + length);
      for (; done < end; done++) output[done] = output[done - distance]!;
    }
  }
}

/** The further in a chunk, the more bits has a distance, and the fewer a length. */
function lengthBitsAt(position: number): number {
  let bits = 12;
  for (let rest = position - 1; rest >= 16; rest >>= 1) bits--;
  return bits;
}
