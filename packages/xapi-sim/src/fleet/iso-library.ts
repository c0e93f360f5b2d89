import type { DraftObject, FleetBuilder } from "./fleet-builder.js";
import type { FleetHost } from "./fleet-host.js";
import { addSr } from "./storage-repository.js";
import { vdiOperations } from "../records/allowed-operations.js";

const GiB = 2 ** 30;

/** The tools that come with the hosts, and the operator's installation images. Answers the images. */
export function addIsoSrs(
  builder: FleetBuilder,
  hosts: readonly FleetHost[],
  isBare: boolean,
): readonly DraftObject[] {
  const tools = addSr(builder, toolsSr, {
    hosts,
    device_config: {
      location: "/opt/xensource/packages/iso",
      legacy_mode: "true",
    },
  });
  addIso(builder, tools, "guest-tools.iso");
  if (isBare) return [];
  const library = addSr(builder, librarySr, {
    hosts,
    device_config: { location: "10.1.200.254:/export/iso", type: "nfs_iso" },
  });
  return isoNames.map((name) => addIso(builder, library, name));
}

const toolsSr = {
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
};

const librarySr = {
  name_label: "ISO library",
  name_description: "NFS ISO Library [10.1.200.254:/export/iso]",
  type: "iso",
  content_type: "iso",
  shared: true,
  physical_size: 2048 * GiB,
  physical_utilisation: 96 * GiB,
};

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

function addIso(
  builder: FleetBuilder,
  sr: DraftObject,
  name: string,
): DraftObject {
  const size = builder.random.int(300, 6000) * 2 ** 20;
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
