import type { FleetBuilder } from "./fleet-builder.js";
import type { FleetHost } from "./fleet-host.js";
import type { FleetProfile } from "./profiles.js";
import { cpuFeatures, cpuFlags } from "./guest-constants.js";
import { softwareFields } from "./host-software.js";
import {
  GpuPool,
  addDrivers,
  addPciDevices,
  addProcessors,
} from "./host-hardware.js";
import { hostOperations } from "../records/allowed-operations.js";
import { addControlDomain } from "./control-domain.js";
import { addCertificates } from "./certificates.js";

/** The hosts with their hardware, certificates, features and control domains. The first is the coordinator. */
export function addHosts(
  builder: FleetBuilder,
  profile: FleetProfile,
  addresses: readonly string[],
): readonly FleetHost[] {
  const gpus = new GpuPool(builder);
  return Array.from({ length: profile.hosts }, (_, index) => {
    const address = addresses[index] ?? defaultAddress(index);
    const host = {
      ...addHost(builder, profile, index, address),
      consoleAddress: addresses[index] ?? addresses[0] ?? address,
    };
    const { nics, gpu } = addPciDevices(builder, host.host, profile);
    if (gpu !== undefined) gpus.add(host.host, gpu);
    addProcessors(builder, host.host, profile.cpusPerHost);
    addDrivers(builder, host.host);
    addCertificates(builder, host.host);
    addControlDomain(builder, host);
    return { ...host, nics };
  });
}

/** Loopback: connections to a member without a listener are refused. */
function defaultAddress(index: number): string {
  return `127.10.${index >> 8}.${(index & 255) + 1}`;
}

function addHost(
  builder: FleetBuilder,
  profile: FleetProfile,
  index: number,
  address: string,
): Omit<FleetHost, "nics" | "consoleAddress"> {
  const shares = profile.memoryShares ?? [1];
  const memory = profile.hostMemory * shares[index % shares.length]!;
  const metrics = builder.add("host_metrics", {
    memory_total: memory,
    memory_free: memory,
    live: true,
    last_updated: builder.ago(builder.random.int(0, 60)),
  });
  const host = builder.add("host", {
    ...hostIdentity(builder, index, address),
    ...softwareFields(builder, profile),
    allowed_operations: hostOperations(true),
    memory_overhead: 3 * 2 ** 30,
    enabled: true,
    sched_policy: "credit",
    cpu_info: cpuInfo(profile.cpusPerHost),
    cpu_configuration: { features: cpuFeatures },
    metrics: metrics.ref,
    tags: index % 8 === 7 ? ["spare"] : ["prod"],
    chipset_info: { iommu: "true" },
    bios_strings: hostBiosStrings,
    ssl_legacy: false,
    https_only: true,
    tls_verification_enabled: true,
    virtual_hardware_platform_versions: [0, 1, 2],
    multipathing: profile.sharedSrs > 4,
  });
  return {
    host,
    metrics,
    address,
    freeMemory: memory - 3 * 2 ** 30,
  };
}

function hostIdentity(builder: FleetBuilder, index: number, address: string) {
  const { random } = builder;
  const rack = String.fromCharCode(97 + Math.floor(index / 16));
  const name = `xcp-${rack}${String((index % 16) + 1).padStart(2, "0")}`;
  const boot = builder.now - random.int(2, 200) * 86400;
  return {
    name_label: name,
    name_description: `Rack ${rack.toUpperCase()}, unit ${(index % 16) * 2 + 1}`,
    hostname: name,
    address,
    iscsi_iqn: `iqn.2025-01.com.example:${name}`,
    other_config: {
      agent_start_time: `${boot + 140}.`,
      boot_time: `${boot}.`,
      rpm_patch_installation_time: `${boot - 3600}.`,
      iscsi_iqn: `iqn.2025-01.com.example:${name}`,
    },
  };
}

const hostBiosStrings = Object.freeze({
  "bios-vendor": "Dell Inc.",
  "bios-version": "1.14.1",
  "system-manufacturer": "Dell Inc.",
  "system-product-name": "PowerEdge R650",
  "system-version": "",
  "system-serial-number": "5XK1WV3",
  "baseboard-manufacturer": "Dell Inc.",
  "baseboard-product-name": "0GNVWN",
  "baseboard-version": "A03",
  "oem-1": "Xen",
  "oem-2": "MS_VM_CERT/SHA1/bdbeb6e0a816d43fa6d3fe8aaef04c2bad9d3e3d",
  "oem-3": "Dell System",
  "hp-rombios": "",
});

/** host.cpu_info and pool.cpu_info: two sockets, two threads a core. */
export function cpuInfo(cpus: number): Readonly<Record<string, string>> {
  return {
    cpu_count: String(cpus),
    socket_count: "2",
    threads_per_core: "2",
    nr_nodes: "2",
    vendor: "GenuineIntel",
    speed: "2594.006",
    modelname: "Intel(R) Xeon(R) Gold 6348 CPU @ 2.60GHz",
    family: "6",
    model: "106",
    stepping: "6",
    flags: cpuFlags,
    features_pv: cpuFeatures,
    features_hvm: cpuFeatures,
    features_hvm_host: cpuFeatures,
    features_pv_host: cpuFeatures,
  };
}
