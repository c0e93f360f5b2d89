import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";
import { tarOf, type XvaFile } from "./xva-archive.js";

const SECTOR = 512;
const GRAIN = 128;
const GRAIN_BYTES = GRAIN * SECTOR;
const AT_END = 0xffff_ffff_ffff_ffffn;

/** A streamOptimized VMDK as VMware writes it: compressed grains with markers, tables behind them. */
export function streamOptimized(content: Buffer): Buffer {
  const capacity = content.length / SECTOR;
  const parts: Buffer[] = [headerOf(capacity)];
  const table = Buffer.alloc(512 * 4);
  let at = 1;
  const add = (bytes: Buffer): void => {
    const padded = Buffer.alloc(Math.ceil(bytes.length / SECTOR) * SECTOR);
    bytes.copy(padded);
    parts.push(padded);
    at += padded.length / SECTOR;
  };
  for (let start = 0; start < content.length; start += GRAIN_BYTES) {
    const grain = Buffer.alloc(GRAIN_BYTES);
    content.copy(grain, 0, start, start + GRAIN_BYTES);
    if (grain.every((byte) => byte === 0)) continue;
    const index = (start / GRAIN_BYTES) % 512;
    table.writeUInt32LE(at, index * 4);
    const data = deflateSync(grain);
    const marker = Buffer.alloc(12);
    marker.writeBigUInt64LE(BigInt(start / SECTOR), 0);
    marker.writeUInt32LE(data.length, 8);
    add(Buffer.concat([marker, data]));
  }
  add(markerOf(4, 1));
  add(table);
  add(markerOf(1, 2));
  add(Buffer.alloc(SECTOR));
  add(markerOf(1, 3));
  add(headerOf(capacity));
  add(markerOf(0, 0));
  return Buffer.concat(parts);
}

/** A monolithicSparse VMDK of at most 32 MiB: its tables are before its grains. */
export function listedVmdk(content: Buffer): Buffer {
  const header = headerOf(content.length / SECTOR);
  header.writeUInt32LE(1, 8);
  header.writeBigUInt64LE(1n, 56);
  header.writeBigUInt64LE(BigInt(GRAIN), 64);
  header.writeUInt16LE(0, 77);
  const metadata = Buffer.alloc(GRAIN_BYTES);
  header.copy(metadata);
  metadata.writeUInt32LE(2, SECTOR);
  const grains: Buffer[] = [];
  for (let start = 0; start < content.length; start += GRAIN_BYTES) {
    const grain = content.subarray(start, start + GRAIN_BYTES);
    if (grain.every((byte) => byte === 0)) continue;
    const entry = 2 * SECTOR + (start / GRAIN_BYTES) * 4;
    metadata.writeUInt32LE(GRAIN * (grains.length + 1), entry);
    grains.push(grain);
  }
  return Buffer.concat([metadata, ...grains]);
}

function headerOf(capacity: number): Buffer {
  const header = Buffer.alloc(SECTOR);
  header.write("KDMV", 0, "latin1");
  header.writeUInt32LE(3, 4);
  header.writeUInt32LE(0x3_0001, 8);
  header.writeBigUInt64LE(BigInt(capacity), 12);
  header.writeBigUInt64LE(BigInt(GRAIN), 20);
  header.writeUInt32LE(512, 44);
  header.writeBigUInt64LE(AT_END, 56);
  header.writeBigUInt64LE(1n, 64);
  header.write("\n \r\n", 73, "latin1");
  header.writeUInt16LE(1, 77);
  return header;
}

function markerOf(sectors: number, type: number): Buffer {
  const marker = Buffer.alloc(SECTOR);
  marker.writeBigUInt64LE(BigInt(sectors), 0);
  marker.writeUInt32LE(type, 12);
  return marker;
}

export interface FixtureDisk {
  readonly id: string;
  /** Bytes. */
  readonly size: number;
  /** Undefined: the disk is empty. */
  readonly file?: string;
  readonly compression?: string;
}

export interface FixtureVm {
  readonly name?: string;
  readonly disks: readonly FixtureDisk[];
  readonly networks?: readonly string[];
  readonly config?: Readonly<Record<string, string>>;
}

/** An OVF descriptor as VMware writes it. */
export function ovfOf({
  name = "Web & mail",
  disks,
  networks = ["VM Network"],
  config = {},
}: FixtureVm): string {
  const item = (type: number, more: string): string =>
    `<Item>${more}<rasd:ResourceType>${type}</rasd:ResourceType></Item>`;
  const files = disks.flatMap(({ file, id, compression }) =>
    file === undefined
      ? []
      : [
          `<File ovf:href="${file}" ovf:id="file-${id}"${compression === undefined ? "" : ` ovf:compression="${compression}"`}/>`,
        ],
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<!-- made for tests -->
<Envelope xmlns="http://schemas.dmtf.org/ovf/envelope/1" xmlns:ovf="http://schemas.dmtf.org/ovf/envelope/1" xmlns:rasd="r" xmlns:vmw="v">
<References>${files.join("")}</References>
<DiskSection><Info>Disks</Info>${disks
    .map(
      ({ id, size, file }) =>
        `<Disk ovf:diskId="${id}" ovf:capacity="${size / 2 ** 10}" ovf:capacityAllocationUnits="byte * 2^10"${file === undefined ? "" : ` ovf:fileRef="file-${id}"`} ovf:format="http://www.vmware.com/interfaces/specifications/vmdk.html#streamOptimized"/>`,
    )
    .join("")}</DiskSection>
<NetworkSection><Info/>${networks.map((network) => `<Network ovf:name="${network}"/>`).join("")}</NetworkSection>
<VirtualSystem ovf:id="vm"><Info>A VM</Info><Name>${name.replaceAll("&", "&amp;")}</Name>
<AnnotationSection><Annotation><![CDATA[Serves <things>]]></Annotation></AnnotationSection>
<VirtualHardwareSection>
${item(3, "<rasd:VirtualQuantity>4</rasd:VirtualQuantity><vmw:CoresPerSocket>2</vmw:CoresPerSocket>")}
${item(4, "<rasd:AllocationUnits>byte * 2^20</rasd:AllocationUnits><rasd:VirtualQuantity>2048</rasd:VirtualQuantity>")}
${item(6, "<rasd:InstanceID>3</rasd:InstanceID>")}
${disks.map(({ id }, i) => item(17, `<rasd:AddressOnParent>${i}</rasd:AddressOnParent><rasd:HostResource>ovf:/disk/${id}</rasd:HostResource><rasd:Parent>3</rasd:Parent>`)).join("\n")}
${networks.map((network) => item(10, `<rasd:Connection>${network}</rasd:Connection>`)).join("\n")}
${Object.entries(config)
  .map(([key, value]) => `<vmw:Config vmw:key="${key}" vmw:value="${value}"/>`)
  .join("")}
</VirtualHardwareSection></VirtualSystem></Envelope>`;
}

/** An OVA. */
export function ovaOf(
  files: Readonly<Record<string, Buffer | string>>,
): Buffer {
  return tarOf(
    Object.entries(files).map(([name, content]): XvaFile => ({
      name,
      content: Buffer.from(content as Buffer),
    })),
  );
}

/** The manifest of files. */
export function manifestOf(
  files: Readonly<Record<string, Buffer | string>>,
  algorithm: "SHA1" | "SHA256" = "SHA256",
): string {
  return Object.entries(files)
    .map(([name, content]) => {
      const hash = createHash(algorithm.toLowerCase()).update(content);
      return `${algorithm}(${name})= ${hash.digest("hex")}\n`;
    })
    .join("");
}
