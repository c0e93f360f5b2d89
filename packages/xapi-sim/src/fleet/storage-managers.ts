import type { FleetBuilder } from "./fleet-builder.js";

const diskFeatures = Object.freeze({
  SR_PROBE: 1,
  SR_UPDATE: 1,
  VDI_CREATE: 1,
  VDI_DELETE: 1,
  VDI_ATTACH: 1,
  VDI_DETACH: 1,
  VDI_UPDATE: 1,
  VDI_CLONE: 1,
  VDI_SNAPSHOT: 1,
  VDI_RESIZE: 1,
  VDI_MIRROR: 1,
  VDI_GENERATE_CONFIG: 1,
  VDI_RESET_ON_BOOT: 2,
  VDI_CONFIG_CBT: 1,
  ATOMIC_PAUSE: 1,
});
const isoFeatures = Object.freeze({
  VDI_CREATE: 1,
  VDI_DELETE: 1,
  VDI_ATTACH: 1,
  VDI_DETACH: 1,
  SR_SCAN: 1,
});

const drivers: readonly (readonly [string, string, string])[] = [
  [
    "ext",
    "Local EXT3 VHD",
    "SR plugin which represents disks as VHD files stored on a local EXT3 filesystem, created inside an LVM volume",
  ],
  [
    "lvm",
    "Local VHD on LVM",
    "SR plugin which represents disks as VHD disks on Logical Volumes within a locally-attached Volume Group",
  ],
  [
    "lvmoiscsi",
    "VHD over iSCSI",
    "SR plugin which represents disks as Logical Volumes within a Volume Group created on an iSCSI LUN",
  ],
  [
    "lvmohba",
    "VHD over HBA",
    "SR plugin which represents disks as VHDs on Logical Volumes within a Volume Group created on an HBA LUN",
  ],
  [
    "nfs",
    "NFS VHD",
    "SR plugin which stores disks as VHD files on a remote NFS filesystem",
  ],
  [
    "smb",
    "SMB",
    "SR plugin which stores disks as VHD files on a remote SMB filesystem",
  ],
  [
    "file",
    "File VHD",
    "SR plugin which represents disks as VHD files on a local filesystem",
  ],
  [
    "hba",
    "HBA",
    "SR plugin which represents LUNs as VDIs sourced by hardware HBA adapters, FC support",
  ],
  ["iscsi", "iSCSI", "Base ISCSI SR driver, provides a LUN-per-VDI"],
  [
    "largeblock",
    "LARGEBLOCK SR",
    "SR plugin which emulates a 512 bytes disk on top of a 4KiB device then create a EXT SR",
  ],
  [
    "linstor",
    "LINSTOR resources on XCP-ng",
    "SR plugin which uses LINSTOR to manage VDIs",
  ],
  ["moosefs", "MooseFS", "MooseFS storage plugin"],
  [
    "xfs",
    "Local XFS VHD",
    "SR plugin which represents disks as VHD files stored on a local XFS filesystem",
  ],
  [
    "zfs",
    "Local ZFS VHD",
    "SR plugin which represents disks as VHD files stored on a ZFS disk",
  ],
  ["iso", "ISO", "Handles CD images stored as files in iso format"],
  [
    "udev",
    "udev",
    "SR plugin which represents devices plugged in via udev as VDIs",
  ],
];

/** The storage drivers of XCP-ng 8.3. */
export function addStorageManagers(builder: FleetBuilder): void {
  for (const [type, name_label, name_description] of drivers) {
    const iso = type === "iso" || type === "udev";
    builder.add("SM", {
      name_label,
      name_description,
      type,
      vendor: "Citrix Systems Inc",
      copyright: "(C) 2008 Citrix Systems Inc",
      version: "1.0",
      required_api_version: "1.0",
      configuration: configurationOf(type),
      features: iso ? isoFeatures : diskFeatures,
      capabilities: Object.keys(iso ? isoFeatures : diskFeatures),
      driver_filename: `/opt/xensource/sm/${driverFile(type)}SR`,
      supported_image_formats: iso ? [] : ["vhd"],
    });
  }
}

function driverFile(type: string): string {
  return type === "lvmoiscsi" || type === "lvmohba"
    ? `LVMo${type.slice(4).replace("iscsi", "ISCSI").replace("hba", "HBA")}`
    : type.toUpperCase();
}

function configurationOf(type: string): Record<string, string> {
  if (type === "nfs")
    return {
      server: "hostname or IP address of NFS server (required)",
      serverpath: "path on remote server (required)",
    };
  if (type === "lvmoiscsi")
    return {
      target: "IP address or hostname of the iSCSI target",
      targetIQN: "The IQN of the target LUN group to be attached",
      SCSIid: "The scsi_id of the destination LUN",
    };
  if (type === "iso")
    return {
      location: "path to mount (required) (e.g. server:/path)",
      options: "extra options to pass to mount (deprecated) (e.g. '-o ro')",
      type: "cifs or nfs_iso",
    };
  return { device: "local device path (required) (e.g. /dev/sda3)" };
}
