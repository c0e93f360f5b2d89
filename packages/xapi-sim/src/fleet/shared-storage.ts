import type { DraftObject, FleetBuilder } from "./fleet-builder.js";
import type { FleetHost } from "./fleet-host.js";
import { addSr } from "./storage-repository.js";

const TiB = 2 ** 40;

/** The SRs that all hosts reach, NFS and iSCSI in turn. */
export function addSharedSrs(
  builder: FleetBuilder,
  hosts: readonly FleetHost[],
  count: number,
): readonly DraftObject[] {
  return Array.from({ length: count }, (_, index) => {
    const kind = index % 2 === 1 ? iscsi(builder, index) : nfs(index);
    const { device_config, ...fields } = kind;
    return addSr(
      builder,
      {
        ...fields,
        shared: true,
        physical_size: 64 * TiB,
        tags: index < 2 ? ["tier-1"] : [],
        other_config: { "auto-scan": "false" },
      },
      { hosts, device_config },
    );
  });
}

function serverOf(index: number): string {
  return `10.1.200.${(index % 250) + 1}`;
}

function nfs(index: number) {
  const server = serverOf(index);
  const serverpath = `/export/vms-${index + 1}`;
  return {
    name_label: `NFS ${index + 1}`,
    name_description: `NFS SR [${server}:${serverpath}]`,
    type: "nfs",
    sm_config: {},
    device_config: { server, serverpath, options: "", nfsversion: "4" },
  };
}

function iscsi(builder: FleetBuilder, index: number) {
  const target = serverOf(index);
  const targetIQN = `iqn.2010-06.com.example:san-${index + 1}`;
  return {
    name_label: `SAN ${index + 1}`,
    name_description: `iSCSI SR [${target} (${targetIQN}; LUN 0)]`,
    type: "lvmoiscsi",
    sm_config: {
      allocation: "thick",
      use_vhd: "true",
      devserial: "scsi-3624a9370",
      multipathable: "true",
    },
    device_config: {
      target,
      targetIQN,
      SCSIid: `3624a9370${builder.random.uuid().replace(/-/g, "").slice(0, 24)}`,
      port: "3260",
      multihomelist: `${target}:3260`,
    },
  };
}
