import type { FleetBuilder, DraftObject } from "./fleet-builder.js";
import type { FleetHost } from "./hosts.js";
import type { FleetProfile } from "./profiles.js";
import { addStorageManagers } from "./storage-managers.js";
import {
  isoSrOperations,
  srOperations,
  vdiOperations,
} from "../operations/allowed-operations.js";

export interface FleetStorage {
  /** SRs that all hosts share, for disks. */
  readonly shared: readonly DraftObject[];
  /** The local SR of each host, in the hosts' order. */
  readonly local: readonly DraftObject[];
  /** Images that a CD drive may hold. */
  readonly isos: readonly DraftObject[];
}

const GiB = 2 ** 30;

/** The storage of the pool: drivers, repositories, the hosts' ways to them, installation images. */
export function addStorage(
  builder: FleetBuilder,
  profile: FleetProfile,
  hosts: readonly FleetHost[],
): FleetStorage {
  addStorageManagers(builder);
  const shared = Array.from({ length: profile.sharedSrs }, (_, i) =>
    addSharedSr(builder, hosts, i),
  );
  const local = hosts.map((host) => addLocalSrs(builder, host));
  return { shared, local, isos: addIsoSrs(builder, hosts) };
}

function addSr(
  builder: FleetBuilder,
  fields: DraftObject["record"],
  pbds: { hosts: readonly FleetHost[]; device_config: Record<string, string> },
): DraftObject {
  const iso = fields["content_type"] === "iso";
  const sr = builder.add("SR", {
    allowed_operations: iso ? isoSrOperations : srOperations,
    content_type: "user",
    ...fields,
  });
  for (const { host } of pbds.hosts)
    builder.add("PBD", {
      host: host.ref,
      SR: sr.ref,
      device_config: pbds.device_config,
      currently_attached: true,
    });
  return sr;
}

function addSharedSr(
  builder: FleetBuilder,
  hosts: readonly FleetHost[],
  index: number,
): DraftObject {
  const iscsi = index % 2 === 1;
  const server = `10.1.200.${(index % 250) + 1}`;
  const device_config: Record<string, string> = iscsi
    ? {
        target: server,
        targetIQN: `iqn.2010-06.com.example:san-${index + 1}`,
        SCSIid: `3624a9370${builder.dice.uuid().replace(/-/g, "").slice(0, 24)}`,
        port: "3260",
        multihomelist: `${server}:3260`,
      }
    : {
        server,
        serverpath: `/export/vms-${index + 1}`,
        options: "",
        nfsversion: "4",
      };
  return addSr(
    builder,
    {
      name_label: iscsi ? `SAN ${index + 1}` : `NFS ${index + 1}`,
      name_description: iscsi
        ? `iSCSI SR [${server} (iqn.2010-06.com.example:san-${index + 1}; LUN 0)]`
        : `NFS SR [${server}:/export/vms-${index + 1}]`,
      type: iscsi ? "lvmoiscsi" : "nfs",
      shared: true,
      physical_size: 64 * 1024 * GiB,
      tags: index < 2 ? ["tier-1"] : [],
      sm_config: iscsi
        ? {
            allocation: "thick",
            use_vhd: "true",
            devserial: "scsi-3624a9370",
            multipathable: "true",
          }
        : {},
      other_config: { "auto-scan": "false" },
    },
    { hosts, device_config },
  );
}

function addLocalSrs(builder: FleetBuilder, host: FleetHost): DraftObject {
  const hosts = [host];
  const name = host.host.record["name_label"] as string;
  addSr(
    builder,
    {
      name_label: "DVD drives",
      name_description: "Physical DVD drives",
      type: "udev",
      content_type: "iso",
      sm_config: { type: "cd" },
      other_config: {
        i18n_key: "local-hotplug-cd",
        "i18n-original-value-name_label": "DVD drives",
      },
    },
    { hosts, device_config: { location: "/dev/xapi/cd" } },
  );
  addSr(
    builder,
    {
      name_label: "Removable storage",
      type: "udev",
      content_type: "disk",
      sm_config: { type: "block" },
      other_config: {
        i18n_key: "local-hotplug-disk",
        "i18n-original-value-name_label": "Removable storage",
      },
    },
    { hosts, device_config: { location: "/dev/xapi/block" } },
  );
  return addSr(
    builder,
    {
      name_label: "Local storage",
      name_description: `Local disks of ${name}`,
      type: "ext",
      physical_size: 3500 * GiB,
      sm_config: { devserial: "" },
      other_config: {
        i18n_key: "local-storage",
        "i18n-original-value-name_label": "Local storage",
      },
    },
    {
      hosts,
      device_config: {
        device: "/dev/disk/by-id/scsi-36d09466051bd2d002b7d0e1c0a2f4c11-part3",
      },
    },
  );
}

const isoNames = [
  "debian-12.11.0-amd64-netinst.iso",
  "debian-13.1.0-amd64-netinst.iso",
  "ubuntu-22.04.5-live-server-amd64.iso",
  "ubuntu-24.04.3-live-server-amd64.iso",
  "Rocky-8.10-x86_64-minimal.iso",
  "Rocky-9.6-x86_64-minimal.iso",
  "rhel-9.6-x86_64-dvd.iso",
  "SLE-15-SP6-Online-x86_64-GM-Media1.iso",
  "win-server-2019.iso",
  "win-server-2022.iso",
  "Win11_24H2_English_x64.iso",
  "virtio-tools.iso",
  "systemrescue-12.01-amd64.iso",
  "memtest86.iso",
];

function addIsoSrs(
  builder: FleetBuilder,
  hosts: readonly FleetHost[],
): readonly DraftObject[] {
  const tools = addSr(
    builder,
    {
      name_label: "XCP-ng Tools",
      name_description: "XCP-ng Tools ISOs",
      type: "iso",
      content_type: "iso",
      shared: true,
      is_tools_sr: true,
      other_config: {
        xensource_internal: "true",
        xenserver_tools_sr: "true",
        i18n_key: "xenserver-tools",
      },
    },
    {
      hosts,
      device_config: {
        location: "/opt/xensource/packages/iso",
        legacy_mode: "true",
      },
    },
  );
  addIso(builder, tools, "guest-tools.iso");
  const library = addSr(
    builder,
    {
      name_label: "ISO library",
      name_description: "NFS ISO Library [10.1.200.254:/export/iso]",
      type: "iso",
      content_type: "iso",
      shared: true,
      physical_size: 2048 * GiB,
      physical_utilisation: 96 * GiB,
    },
    {
      hosts,
      device_config: { location: "10.1.200.254:/export/iso", type: "nfs_iso" },
    },
  );
  return isoNames.map((name) => addIso(builder, library, name));
}

function addIso(
  builder: FleetBuilder,
  sr: DraftObject,
  name: string,
): DraftObject {
  const size = builder.dice.int(300, 6000) * 2 ** 20;
  return builder.add("VDI", {
    name_label: name,
    allowed_operations: vdiOperations({ inUse: false, readOnly: true }),
    SR: sr.ref,
    virtual_size: size,
    physical_utilisation: size,
    type: "user",
    sharable: true,
    read_only: true,
    location: name,
    managed: true,
    sm_config: { created: builder.ago(200 * 86400) },
    is_tools_iso: name === "guest-tools.iso",
  });
}
