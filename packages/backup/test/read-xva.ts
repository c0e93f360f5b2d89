const MIB = 1024 * 1024;

/** The names of the files of an XVA, which may be cut, and the contents of its disks. */
export function readXvaDisks(
  xva: Buffer,
  disks: readonly { readonly id: string; readonly size: number }[],
): { disks: Record<string, Buffer>; files: string[] } {
  const contents = disks.map(({ size }) => Buffer.alloc(size));
  const files: string[] = [];
  for (let at = 0; at + 512 <= xva.length && xva[at] !== 0;) {
    const name = xva.toString("latin1", at, xva.indexOf(0, at));
    const size = parseInt(xva.toString("latin1", at + 124, at + 135), 8);
    files.push(name);
    const [, disk, block] = /^Ref:(\d+)\/(\d{8})$/.exec(name) ?? [];
    if (disk !== undefined)
      xva.copy(
        contents[Number(disk) - 2]!,
        Number(block) * MIB,
        at + 512,
        at + 512 + size,
      );
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return {
    files,
    disks: Object.fromEntries(disks.map(({ id }, i) => [id, contents[i]!])),
  };
}
