import type { ForeignNic, ForeignVm } from "../foreign/foreign-vm.js";
import {
  childOf,
  childrenOf,
  textAt,
  type XmlElement,
} from "../xml/xml-element.js";
import { invalid } from "./ovf-error.js";
import { toBytes } from "./ovf-units.js";

/** Resource types (CIM_ResourceAllocationSettingData). */
const CPU = "3";
const MEMORY = "4";
const ETHERNET = "10";
const DISK = "17";
const MAX_NICS = 64;
const MAX_DISKS = 64;

export interface OvfHardware extends Pick<
  ForeignVm,
  "vcpus" | "coresPerSocket" | "memory" | "firmware" | "secureBoot" | "nics"
> {
  /** Ids of the disks, in the order of their device numbers. */
  readonly disks: readonly string[];
}

/** @throws RepositoryError `source-invalid` */
export function readHardware(system: XmlElement): OvfHardware {
  const section = childOf(system, "VirtualHardwareSection");
  if (section === undefined)
    throw invalid("the OVF has no VirtualHardwareSection");
  const items = itemsOf(section);
  const byType = (type: string) =>
    items.filter((item) => textAt(item, "ResourceType") === type);
  const [cpu] = byType(CPU);
  const [memory] = byType(MEMORY);
  const vcpus = Number(textAt(cpu, "VirtualQuantity") || 1);
  if (!Number.isInteger(vcpus) || vcpus < 1 || vcpus > 1024)
    throw invalid(`the OVF has a VM with ${vcpus} virtual CPUs`);
  if (memory === undefined)
    throw invalid("the OVF does not specify the memory size");
  const config = configOf(section);
  const cores = Number(
    textAt(cpu, "CoresPerSocket") || config.get("cpuid.coresPerSocket"),
  );
  const isValid = Number.isInteger(cores) && cores > 1 && vcpus % cores === 0;
  return {
    vcpus,
    ...(isValid && { coresPerSocket: cores }),
    memory: toBytes(
      textAt(memory, "VirtualQuantity"),
      textAt(memory, "AllocationUnits"),
    ),
    firmware: config.get("firmware") === "efi" ? "uefi" : "bios",
    secureBoot: config.get("bootOptions.efiSecureBootEnabled") === "true",
    nics: byType(ETHERNET).slice(0, MAX_NICS).map(readNic),
    disks: readPlaces(byType(DISK), items),
  };
}

/** OVF 2 has elements of their own for storage and network. */
function itemsOf(section: XmlElement): XmlElement[] {
  return ["Item", "StorageItem", "EthernetPortItem"].flatMap((name) =>
    childrenOf(section, name),
  );
}

function configOf(section: XmlElement): ReadonlyMap<string, string> {
  return new Map(
    childrenOf(section, "Config").map(({ attributes }) => [
      attributes.get("key") ?? "",
      attributes.get("value") ?? "",
    ]),
  );
}

function readNic(item: XmlElement): ForeignNic {
  const mac = textAt(item, "Address").toLowerCase();
  return {
    network: textAt(item, "Connection"),
    ...(/^([\da-f]{2}:){5}[\da-f]{2}$/.test(mac) && { mac }),
  };
}

/** By the controller, in the order of the OVF, then by the address on it. */
function readPlaces(
  disks: readonly XmlElement[],
  items: readonly XmlElement[],
): string[] {
  if (disks.length > MAX_DISKS)
    throw invalid(`the OVF has a VM with ${disks.length} disks`);
  const ids = items.map((item) => textAt(item, "InstanceID"));
  return disks
    .map((item) => ({
      id: readDiskId(textAt(item, "HostResource")),
      controller: ids.indexOf(textAt(item, "Parent")),
      address: Number(textAt(item, "AddressOnParent")) || 0,
    }))
    .toSorted((a, b) => a.controller - b.controller || a.address - b.address)
    .map(({ id }) => id);
}

/** `ovf:/disk/vmdisk1`, or without `ovf:`. */
function readDiskId(resource: string): string {
  const [, id] = /^(?:ovf:)?\/disk\/(.+)$/.exec(resource) ?? [];
  if (id !== undefined) return id;
  throw invalid(`a disk refers to "${resource.slice(0, 100)}"`);
}
