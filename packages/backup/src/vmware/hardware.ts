import type { ForeignVm } from "../foreign/foreign-vm.js";
import {
  childOf,
  childrenOf,
  elementAt,
  textAt,
  type XmlElement,
} from "../xml/xml-element.js";
import { decoded, type VmwareNames } from "./inventory.js";
import { textOf, type ObjectProperties } from "./property-collector.js";
import { invalid } from "./soap-client.js";
import type { VmwareVm } from "./vmware-server.js";

interface VmwareDisk {
  /** Key of the device. */
  readonly id: string;
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** `[datastore] folder/disk.vmdk` */
  readonly file: string;
  /** Id of the datastore. */
  readonly datastore: string;
  /** Why it cannot be read. */
  readonly obstacle: string | undefined;
}

const FLAT = "VirtualDiskFlatVer2BackingInfo";
/** Sorts disks by bus number within their kind of controller. */
const CONTROLLERS =
  /SCSIController|SASController|LsiLogic|BusLogic|IDEController|AHCIController|NVMEController/;

/** Sorted as the firmware tries them: by controller, then by unit number. */
export function disksOf(vm: ObjectProperties): VmwareDisk[] {
  const devices = devicesOf(vm);
  const controllers = devices
    .filter((device) => CONTROLLERS.test(typeOf(device)))
    .map((device) => textAt(device, "key"));
  const rank = (device: XmlElement) =>
    controllers.indexOf(textAt(device, "controllerKey")) * 1000 +
    Number(textAt(device, "unitNumber") || 0);
  return devices
    .filter((device) => typeOf(device) === "VirtualDisk")
    .toSorted((a, b) => rank(a) - rank(b))
    .map(toDisk);
}

function toDisk(device: XmlElement): VmwareDisk {
  const backing = childOf(device, "backing");
  const kilobytes = Number(textAt(device, "capacityInKB"));
  const size = Number(textAt(device, "capacityInBytes")) || kilobytes * 1024;
  const name = textAt(device, "deviceInfo", "label");
  if (!Number.isSafeInteger(size) || size <= 0 || size % 512 !== 0)
    throw invalid(`disk ${name} has ${size} bytes`);
  return {
    id: textAt(device, "key"),
    name,
    size,
    file: textAt(backing, "fileName"),
    datastore: textAt(backing, "datastore"),
    obstacle: obstacleOf(name, backing),
  };
}

function obstacleOf(
  name: string,
  backing: XmlElement | undefined,
): string | undefined {
  const type = backing === undefined ? "" : typeOf(backing);
  if (childOf(backing, "parent") !== undefined)
    return `disk ${name} belongs to a snapshot: delete all snapshots of the VM first`;
  if (type !== FLAT)
    return `disk ${name} is not a flat disk of a datastore (${type.replace("BackingInfo", "")})`;
  return childOf(backing, "keyId") === undefined
    ? undefined
    : `disk ${name} is encrypted`;
}

/** In the order of their device numbers. */
function nicsOf(
  vm: ObjectProperties,
  { portGroups }: VmwareNames,
): { network: string; mac: string }[] {
  return devicesOf(vm)
    .filter((device) => childOf(device, "macAddress") !== undefined)
    .toSorted((a, b) => Number(textAt(a, "key")) - Number(textAt(b, "key")))
    .map((device) => {
      const key = textAt(device, "backing", "port", "portgroupKey");
      const name =
        textAt(device, "backing", "deviceName") ||
        (portGroups.get(key) ?? textAt(device, "deviceInfo", "summary"));
      return {
        network: decoded(name),
        mac: textAt(device, "macAddress").toLowerCase(),
      };
    });
}

/** @throws RepositoryError `source-invalid` */
export function toForeignVm(
  vm: ObjectProperties,
  names: VmwareNames,
): ForeignVm {
  const { vcpus, cores, memory } = sizeOf(vm);
  const boot = vm.properties.get("config.bootOptions");
  return {
    name: decoded(textOf(vm, "name")),
    description: textOf(vm, "config.annotation"),
    vcpus,
    ...(cores > 1 && { coresPerSocket: cores }),
    memory,
    firmware: firmwareOf(vm),
    secureBoot: textAt(boot, "efiSecureBootEnabled") === "true",
    disks: disksOf(vm).map(({ id, name, size }, position) => {
      return { id, name, size, position };
    }),
    nics: nicsOf(vm, names),
  };
}

/**
 * A VM for a list to choose from, with the reason why it cannot be imported
 * (`obstacle`).
 * @throws RepositoryError `source-invalid`
 */
export function toVmwareVm(vm: ObjectProperties, names: VmwareNames): VmwareVm {
  const { vcpus, memory } = sizeOf(vm);
  const disks = disksOf(vm);
  const hasSnapshots = vm.properties.has("snapshot");
  const obstacle = obstacleOfVm(vm);
  return {
    id: vm.id,
    name: decoded(textOf(vm, "name")),
    powerState: textOf(vm, "runtime.powerState"),
    vcpus,
    memory,
    firmware: firmwareOf(vm),
    guestOs: textOf(vm, "config.guestFullName"),
    hasSnapshots,
    disks: disks.map(({ name, size, file }) => ({
      name,
      size,
      datastore: /^\[(.*?)\]/.exec(file)?.[1] ?? "",
    })),
    networks: nicsOf(vm, names).map(({ network, mac }) => ({
      name: network,
      mac,
    })),
    ...(obstacle !== undefined && { obstacle }),
  };
}

/** Why a VM cannot be imported, whatever its power state is. */
export function obstacleOfVm(vm: ObjectProperties): string | undefined {
  if (vm.properties.has("snapshot"))
    return "it has snapshots: delete all of them first, so that its disks are complete";
  return disksOf(vm).find(({ obstacle }) => obstacle !== undefined)?.obstacle;
}

function sizeOf(vm: ObjectProperties) {
  const hardware = vm.properties.get("config.hardware");
  return {
    vcpus: Number(textAt(hardware, "numCPU")) || 1,
    cores: Number(textAt(hardware, "numCoresPerSocket")) || 1,
    memory: (Number(textAt(hardware, "memoryMB")) || 0) * 2 ** 20,
  };
}

function firmwareOf(vm: ObjectProperties): "bios" | "uefi" {
  return textOf(vm, "config.firmware") === "efi" ? "uefi" : "bios";
}

function devicesOf(vm: ObjectProperties): readonly XmlElement[] {
  return childrenOf(elementAt(vm.properties.get("config.hardware")), "device");
}

/** The type that the element declares. */
function typeOf({ attributes }: XmlElement): string {
  const type = attributes.get("type") ?? "";
  return type.slice(type.indexOf(":") + 1);
}
