/** What a FAT16 volume says of itself, read by its boot sector alone. */
export interface FatVolume {
  readonly label: string;
  readonly clusters: number;
  readonly files: ReadonlyMap<string, Buffer>;
}

export function readFatImage(image: Buffer): FatVolume {
  const sector = image.readUInt16LE(11);
  const cluster = image.readUInt8(13) * sector;
  const fatStart = image.readUInt16LE(14) * sector;
  const fatBytes = image.readUInt16LE(22) * sector;
  const rootStart = fatStart + image.readUInt8(16) * fatBytes;
  const dataStart = rootStart + image.readUInt16LE(17) * 32;
  const sectors = image.readUInt16LE(19);
  const files = new Map<string, Buffer>();
  let label = "";
  let long = "";
  for (let at = rootStart; at < dataStart && image[at] !== 0; at += 32) {
    const entry = image.subarray(at, at + 32);
    if (entry[11] === 0x0f) long = longPart(entry) + long;
    else if (entry[11] === 0x08) label = entry.toString("latin1", 0, 11).trim();
    else {
      const parts: Buffer[] = [];
      let next = entry.readUInt16LE(26);
      for (; next >= 2 && next < 0xfff8; next = fatEntry(next))
        parts.push(image.subarray(place(next), place(next) + cluster));
      files.set(long, Buffer.concat(parts).subarray(0, entry.readUInt32LE(28)));
      long = "";
    }
  }
  const clusters = Math.floor((sectors * sector - dataStart) / cluster);
  return { label, clusters, files };

  function fatEntry(index: number): number {
    return image.readUInt16LE(fatStart + index * 2);
  }

  function place(index: number): number {
    return dataStart + (index - 2) * cluster;
  }
}

function longPart(entry: Buffer): string {
  const text = Buffer.concat([
    entry.subarray(1, 11),
    entry.subarray(14, 26),
    entry.subarray(28, 32),
  ]).toString("utf16le");
  return text.split("\0")[0]!.replaceAll("\uffff", "");
}
