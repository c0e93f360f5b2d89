import { createHash } from "node:crypto";
import { xxh64 } from "../src/xva/xxh64.js";

const MIB = 1024 * 1024;

export interface XvaFile {
  readonly name: string;
  readonly content: Buffer;
}

export interface XvaDisk {
  readonly uuid: string;
  readonly bytes: Buffer;
}

/** The files of an export as XAPI writes it: blocks of zeros are left out, but the first and the last. */
export function xvaFiles(
  disks: readonly XvaDisk[],
  kind: "xxhash" | "checksum" = "xxhash",
): XvaFile[] {
  const files: XvaFile[] = [
    { name: "ova.xml", content: Buffer.from(ovaOf(disks)) },
  ];
  for (const [i, { bytes }] of disks.entries())
    for (let at = 0; at < bytes.length; at += MIB) {
      const content = bytes.subarray(at, at + MIB);
      const isEnd = at === 0 || at + MIB >= bytes.length;
      if (!isEnd && content.every((byte) => byte === 0)) continue;
      const name = `Ref:${i + 2}/${String(at / MIB).padStart(8, "0")}`;
      files.push({ name, content }, checksumFile(name, content, kind));
    }
  return files;
}

export function checksumFile(
  block: string,
  content: Buffer,
  kind: "xxhash" | "checksum" = "xxhash",
): XvaFile {
  const sum =
    kind === "xxhash"
      ? xxh64(content)
      : createHash("sha1").update(content).digest("hex");
  return { name: `${block}.${kind}`, content: Buffer.from(sum) };
}

/** The archive. */
export function tarOf(files: readonly XvaFile[]): Buffer {
  const parts = files.flatMap(({ name, content }) => [
    headerOf(name, content.length),
    content,
    Buffer.alloc((512 - (content.length % 512)) % 512),
  ]);
  return Buffer.concat([...parts, Buffer.alloc(1024)]);
}

function headerOf(name: string, size: number): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0, "latin1");
  header.write("0000400\0", 100, "latin1");
  header.write(`${size.toString(8).padStart(11, "0")}\0`, 124, "latin1");
  header.write("        0", 148, "latin1");
  const sum = header.reduce((all, byte) => all + byte, 0);
  header.write(`${sum.toString(8).padStart(7, "0")}\0`, 148, "latin1");
  return header;
}

function ovaOf(disks: readonly XvaDisk[]): string {
  const member = (name: string, value: string): string =>
    `<member><name>${name}</name><value>${value}</value></member>`;
  const object = (type: string, id: string, record: string): string =>
    `<value><struct>${member("class", type)}${member("id", id)}${member("snapshot", `<struct>${record}</struct>`)}</struct></value>`;
  const vm = object(
    "VM",
    "Ref:0",
    member("name_label", "&lt;a &amp; b&gt; &quot;class&quot;") +
      member("uuid", "of the VM") +
      member("VBDs", "<array><data/></array>"),
  );
  const vdis = disks.map(({ uuid }, i) =>
    object(
      "VDI",
      `Ref:${i + 2}`,
      member("uuid", `<string>${uuid}</string>`) +
        member("sm_config", "<struct/>"),
    ),
  );
  const objects = `<array><data>${vm}${vdis.join("")}</data></array>`;
  return `<?xml version="1.0"?><value><struct>${member("version", "<struct/>")}${member("objects", objects)}</struct></value>`;
}
