/** Bytes that determine the format: the volume descriptor of an ISO is at 32 KiB. */
const HEAD_BYTES = 0x8006;

/** Formats that can be imported as a disk. */
export const diskTypes = [
  "vhd",
  "raw",
  "iso",
  "qcow2",
  "vmdk",
  "vhdx",
] as const;
export type DiskType = (typeof diskTypes)[number];

type DiskFormat =
  | { readonly type: DiskType }
  /** Name of a format that cannot be imported as a disk; undefined: the file is empty. */
  | { readonly type: "unsupported"; readonly format: string | undefined };

/** Texts that images begin with which the server converts. */
const converted: readonly (readonly [string, DiskType])[] = [
  ["KDMV", "vmdk"],
  ["QFI\u00fb", "qcow2"],
  ["vhdxfile", "vhdx"],
];

/** Formats that begin with this text, at an offset. Imported as raw disks they would be unusable. */
const unsupported: readonly (readonly [string, number, string])[] = [
  ["# Disk DescriptorFile", 0, "VMDK without data"],
  ["<<< Oracle VM VirtualBox", 0, "VDI (VirtualBox)"],
  ["ustar", 257, "OVA, XVA or tar"],
  ["\u001f\u008b", 0, "gzip"],
  ["\u0028\u00b5\u002f\u00fd", 0, "zstd"],
  ["\u00fd7zXZ", 0, "xz"],
  ["PK\u0003\u0004", 0, "ZIP"],
];

/** Extensions of formats without such a text. */
const byExtension: Readonly<Record<string, string>> = {
  vmdk: "VMDK",
  qcow2: "QCOW2",
  vhdx: "VHDX",
  ova: "OVA",
  ovf: "OVF",
  xva: "XVA",
};

/** The format of a file that is imported as a disk, by its content and its extension. */
export async function readDiskFormat(file: File): Promise<DiskFormat> {
  if (file.size === 0) return { type: "unsupported", format: undefined };
  const head = new TextDecoder("latin1").decode(
    await file.slice(0, HEAD_BYTES).arrayBuffer(),
  );
  const has = (text: string, offset: number) => head.startsWith(text, offset);
  if (has("conectix", 0)) return { type: "vhd" };
  if (has("CD001", 0x8001)) return { type: "iso" };
  const image = converted.find(([text]) => has(text, 0));
  if (image !== undefined) return { type: image[1] };
  const extension = /\.(\w+)$/.exec(file.name)?.[1]?.toLowerCase() ?? "";
  const format =
    unsupported.find(([text, offset]) => has(text, offset))?.[2] ??
    byExtension[extension];
  if (format !== undefined) return { type: "unsupported", format };
  // A VHD of fixed size has its header at the end; the server checks it.
  return {
    type: extension === "vhd" || extension === "iso" ? extension : "raw",
  };
}

/** Format of a disk by the extension of its file; undefined: the extension is of no format. */
export function typeOfName(fileName: string): DiskType | undefined {
  const extension = /\.(\w+)$/.exec(fileName)?.[1]?.toLowerCase();
  if (extension === "img") return "raw";
  return diskTypes.find((type) => type === extension);
}
