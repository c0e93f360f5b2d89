import type { ForeignDisk, ForeignVm } from "../foreign/foreign-vm.js";
import { parseXml } from "../xml/parse-xml.js";
import {
  childOf,
  childrenOf,
  textAt,
  type XmlElement,
} from "../xml/xml-element.js";
import { readHardware, type OvfHardware } from "./ovf-hardware.js";
import { invalid } from "./ovf-error.js";
import { toBytes } from "./ovf-units.js";

/** A file of the package with the content of a disk. */
export interface OvfFile {
  readonly name: string;
  readonly isGzip: boolean;
  readonly disk: ForeignDisk;
}

export interface OvfPackage {
  readonly vm: ForeignVm;
  /** In the order in which the package has them. */
  readonly files: readonly OvfFile[];
}

/**
 * Reads an OVF descriptor (DSP0243, versions 1 and 2) with one VM.
 * @throws RepositoryError `source-invalid`
 */
export function readOvf(xml: string): OvfPackage {
  const envelope = parseXml(xml);
  if (envelope.name !== "Envelope") throw invalid("the OVF has no Envelope");
  const system = onlySystem(envelope);
  const hardware = readHardware(system);
  const disks = readDisks(envelope, hardware);
  const { vcpus, coresPerSocket, memory, firmware, secureBoot, nics } =
    hardware;
  const name = textAt(system, "Name") || (system.attributes.get("id") ?? "");
  return {
    vm: {
      name: name.slice(0, MAX_TEXT) || "Imported VM",
      description: textAt(system, "AnnotationSection", "Annotation").slice(
        0,
        MAX_TEXT,
      ),
      vcpus,
      ...(coresPerSocket !== undefined && { coresPerSocket }),
      memory,
      firmware,
      secureBoot,
      disks: disks.map(({ disk }) => disk),
      nics,
    },
    files: disks.flatMap(({ file, disk }) =>
      file === undefined ? [] : [{ ...file, disk }],
    ),
  };
}

/** Characters of a name or a description. */
const MAX_TEXT = 4096;

/** @throws RepositoryError `source-invalid` for none, or for several */
function onlySystem(envelope: XmlElement): XmlElement {
  const systems = [
    ...childrenOf(envelope, "VirtualSystem"),
    ...childrenOf(envelope, "VirtualSystemCollection").flatMap((collection) =>
      childrenOf(collection, "VirtualSystem"),
    ),
  ];
  const [system] = systems;
  if (system === undefined || systems.length > 1)
    throw invalid(
      `the OVF has ${systems.length} VMs, only packages with one VM can be imported`,
    );
  return system;
}

interface OvfDisk {
  readonly disk: ForeignDisk;
  /** Undefined: the disk is empty. */
  readonly file: Omit<OvfFile, "disk"> | undefined;
}

/** Those with a file first, in the order of the files; disks that the VM does not use are left out. */
function readDisks(envelope: XmlElement, { disks }: OvfHardware): OvfDisk[] {
  const references = childrenOf(childOf(envelope, "References"), "File");
  // The first file of an id counts.
  const ranks = new Map(
    references
      .map(({ attributes }, rank) => [attributes.get("id"), rank] as const)
      .toReversed(),
  );
  const ids = new Set<string>();
  const found = childrenOf(childOf(envelope, "DiskSection"), "Disk").flatMap(
    ({ attributes }) => {
      const id = attributes.get("diskId") ?? "";
      const device = disks.indexOf(id);
      if (device < 0) return [];
      if (ids.has(id)) throw invalid(`disk ${id} is described twice`);
      ids.add(id);
      const fileId = attributes.get("fileRef");
      const position =
        fileId === undefined ? Infinity : (ranks.get(fileId) ?? -1);
      if (attributes.get("parentRef") !== undefined)
        throw invalid(`disk ${id} has a parent disk`);
      const size = toBytes(
        attributes.get("capacity") ?? "",
        attributes.get("capacityAllocationUnits") ?? "",
      );
      if (size <= 0 || size % 512 !== 0)
        throw invalid(`disk ${id} has ${size} bytes`);
      const file = fileId === undefined ? undefined : references[position];
      if (fileId !== undefined && file === undefined)
        throw invalid(`disk ${id} refers to the unknown file ${fileId}`);
      const disk: ForeignDisk = { id, name: id, size, position: device };
      return [{ position, disk, file: file && readFile(file, attributes) }];
    },
  );
  for (const id of disks)
    if (!found.some(({ disk }) => disk.id === id))
      throw invalid(`the VM has a disk ${id} that the OVF does not describe`);
  const sorted = found.toSorted((a, b) =>
    a.position === b.position ? 0 : a.position - b.position,
  );
  checkDistinct(sorted);
  return sorted;
}

/** Format of disks, in the identifier that the OVF names. */
const VMDK = /vmdk/i;

function readFile(
  { attributes }: XmlElement,
  disk: ReadonlyMap<string, string>,
): Omit<OvfFile, "disk"> {
  const name = attributes.get("href") ?? "";
  const compression = attributes.get("compression") ?? "";
  const format = disk.get("format") ?? "vmdk";
  if (!VMDK.test(format))
    throw invalid(`${name} has the format ${format}, only VMDK is supported`);
  if (
    compression !== "" &&
    compression !== "gzip" &&
    compression !== "identity"
  )
    throw invalid(`${name} has the compression ${compression}, not gzip`);
  if (attributes.has("chunkSize"))
    throw invalid(`${name} is split into several files`);
  if (name === "" || /^\w+:\/\//.test(name))
    throw invalid(`the file "${name}" is not in the package`);
  return { name, isGzip: compression === "gzip" };
}

function checkDistinct(disks: readonly OvfDisk[]): void {
  const names = disks.flatMap(({ file }) => (file ? [file.name] : []));
  if (new Set(names).size < names.length)
    throw invalid("several disks refer to the same file");
}
