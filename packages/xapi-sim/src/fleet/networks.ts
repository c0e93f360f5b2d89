import { NULL_REF } from "@xo-server/model";
import type { FleetBuilder, DraftObject } from "./fleet-builder.js";
import type { FleetHost } from "./fleet-host.js";
import type { FleetProfile } from "./profiles.js";

/** Addresses of the servers that give time and names to the fleet. */
const DNS = "10.0.255.53";

/** All networks of the pool, with a PIF on each host. Answers those that guests use. */
export function addNetworks(
  builder: FleetBuilder,
  profile: FleetProfile,
  hosts: readonly FleetHost[],
): readonly DraftObject[] {
  addInternalNetwork(builder);
  const nics = Array.from({ length: profile.nicsPerHost }, (_, i) =>
    addNetwork(builder, {
      name_label: `Pool-wide network associated with eth${i}`,
      bridge: `xenbr${i}`,
      MTU: i === 2 ? 9000 : 1500,
    }),
  );
  if (profile.isBare === true) return addBareInterfaces(builder, hosts, nics);
  const bond = addNetwork(builder, {
    name_label: "Bond 0+1",
    bridge: "xapi0",
    ...(profile.hasNbd === true ? { purpose: ["nbd"] } : {}),
  });
  const vlans = Array.from({ length: profile.vlans }, (_, i) =>
    addNetwork(builder, {
      name_label: `${vlanNames[i % vlanNames.length]} ${100 + i}`,
      name_description: `VLAN ${100 + i}`,
      bridge: `xapi${i + 1}`,
      tags: i % 3 === 0 ? ["prod"] : [],
    }),
  );
  hosts.forEach((host, index) => {
    const bondPif = addHostInterfaces(builder, { host, index, nics }, bond);
    vlans.forEach((network, i) =>
      addVlan(builder, host, { network, tag: 100 + i, trunk: bondPif }),
    );
  });
  return [bond, ...vlans];
}

/** The first interface of each host has its address. */
function addBareInterfaces(
  builder: FleetBuilder,
  hosts: readonly FleetHost[],
  nics: readonly DraftObject[],
): readonly DraftObject[] {
  hosts.forEach((host, index) => {
    const [first] = addPhysicalPifs(builder, { host, index, nics });
    Object.assign(first!.record, managementFields(host));
  });
  return nics;
}

function managementFields(host: FleetHost) {
  return {
    management: true,
    ...staticAddress(host.address.replace(/:\d+$/, "")),
    gateway: "10.0.255.254",
    DNS,
  };
}

const vlanNames = [
  "Production",
  "DMZ",
  "Office",
  "Development",
  "Backup",
  "Storage",
];

function addNetwork(
  builder: FleetBuilder,
  fields: DraftObject["record"],
): DraftObject {
  return builder.add("network", {
    other_config: { automatic: "false" },
    ...fields,
  });
}

/** Every pool has it: link-local addresses between guests and XAPI. */
function addInternalNetwork(builder: FleetBuilder): void {
  builder.add("network", {
    name_label: "Host internal management network",
    name_description:
      "Network on which guests will be assigned a private link-local IP address which can be used to talk XenAPI",
    other_config: {
      is_guest_installer_network: "true",
      is_host_internal_management_network: "true",
      ip_begin: "169.254.0.1",
      ip_end: "169.254.255.254",
      netmask: "255.255.0.0",
    },
    bridge: "xenapi",
  });
}

interface Wiring {
  readonly host: FleetHost;
  readonly index: number;
  /** The networks of eth0, eth1 ... */
  readonly nics: readonly DraftObject[];
}

/** The interfaces of a host, the first two in a bond that has its address. Answers the bond's own PIF. */
function addHostInterfaces(
  builder: FleetBuilder,
  wiring: Wiring,
  bond: DraftObject,
): DraftObject {
  const { host } = wiring;
  const pifs = addPhysicalPifs(builder, wiring);
  const master = builder.add("PIF", {
    ...pifFields(builder, host, "bond0"),
    network: bond.ref,
    metrics: addPifMetrics(builder, "N/A", false).ref,
    MAC: pifs[0]!.record["MAC"]!,
    ...managementFields(host),
  });
  const bondObject = builder.add("Bond", {
    master: master.ref,
    primary_slave: pifs[0]!.ref,
    mode: "lacp",
    properties: { hashing_algorithm: "tcpudp_ports" },
    links_up: Math.min(2, pifs.length),
  });
  for (const pif of pifs.slice(0, 2))
    pif.record["bond_slave_of"] = bondObject.ref;
  return master;
}

function addPhysicalPifs(
  builder: FleetBuilder,
  { host, index, nics }: Wiring,
): readonly DraftObject[] {
  return nics.map((network, i) =>
    builder.add("PIF", {
      ...pifFields(builder, host, `eth${i}`),
      network: network.ref,
      MTU: network.record["MTU"]!,
      physical: true,
      metrics: addPifMetrics(builder, `0000:00:0${i}.0`, true).ref,
      PCI: host.nics[i]?.ref ?? NULL_REF,
      capabilities: ["sriov"],
      // A storage network of its own where there are NICs enough.
      ...(i === 2
        ? staticAddress(`10.1.${index >> 8}.${(index & 255) + 1}`)
        : {}),
    }),
  );
}

function staticAddress(IP: string) {
  return { ip_configuration_mode: "Static", IP, netmask: "255.255.0.0" };
}

function pifFields(builder: FleetBuilder, host: FleetHost, device: string) {
  return {
    device,
    host: host.host.ref,
    MAC: macAddress(builder, "3c:fd:fe"),
    MTU: 1500,
    VLAN: -1,
    currently_attached: true,
    properties: { gro: "on" },
  };
}

function addPifMetrics(
  builder: FleetBuilder,
  pci_bus_path: string,
  physical: boolean,
) {
  return builder.add("PIF_metrics", {
    carrier: true,
    vendor_id: physical ? "8086" : "",
    vendor_name: physical ? "Intel Corporation" : "",
    device_id: physical ? "1572" : "",
    device_name: physical ? "Ethernet Controller X710 for 10GbE SFP+" : "",
    speed: physical ? 10000 : 20000,
    duplex: true,
    pci_bus_path,
    last_updated: builder.ago(5),
  });
}

function addVlan(
  builder: FleetBuilder,
  host: FleetHost,
  {
    network,
    tag,
    trunk,
  }: { network: DraftObject; tag: number; trunk: DraftObject },
): void {
  const untagged = builder.add("PIF", {
    ...pifFields(builder, host, "bond0"),
    network: network.ref,
    VLAN: tag,
    MAC: trunk.record["MAC"]!,
    metrics: addPifMetrics(builder, "N/A", false).ref,
  });
  const vlan = builder.add("VLAN", {
    tagged_PIF: trunk.ref,
    untagged_PIF: untagged.ref,
    tag,
  });
  untagged.record["VLAN_master_of"] = vlan.ref;
}

/** A MAC address under a vendor's or a local prefix. */
export function macAddress({ random }: FleetBuilder, prefix: string): string {
  const hex = random.uint32().toString(16).padStart(8, "0");
  return `${prefix}:${hex.slice(0, 2)}:${hex.slice(2, 4)}:${hex.slice(4, 6)}`;
}
