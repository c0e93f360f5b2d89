import type { FleetBuilder, FleetFields } from "./fleet-builder.js";
import type { GuestSystem } from "./guest-systems.js";

/** Adds the metrics that the agent of a guest has reported, or an empty record for a guest without agent. */
export function addGuestMetrics(
  builder: FleetBuilder,
  guest: {
    readonly system: GuestSystem;
    readonly index: number;
    readonly live: boolean;
  },
): string {
  const last_updated = builder.ago(builder.random.int(1, 600));
  return builder.add("VM_guest_metrics", {
    ...guestMetricsFields(guest.system, guest.index),
    last_updated,
    live: guest.live,
  }).ref;
}

/** The fields that a guest's agent fills in; `index` makes the addresses. */
export function guestMetricsFields(
  system: GuestSystem,
  index: number,
): FleetFields {
  if (system.osVersion === undefined) return {};
  const windows = system.family === "windows";
  return {
    os_version: system.osVersion,
    netbios_name: windows
      ? {
          host_name: `WIN-${index}`,
          domain: "example.com",
          dns_domain: "example.com",
        }
      : {},
    PV_drivers_version: windows
      ? { major: "9", minor: "3", micro: "3", build: "125" }
      : { major: "7", minor: "30", micro: "0", build: "12" },
    PV_drivers_up_to_date: true,
    PV_drivers_detected: true,
    networks: addressesOf(index),
    other: windows ? windowsFeatures : linuxFeatures,
    can_use_hotplug_vbd: "yes",
    can_use_hotplug_vif: "yes",
  };
}

function addressesOf(index: number): Record<string, string> {
  const address = guestAddress(index);
  const suffix = `216:3eff:fe${hex(index >> 8)}:${hex(index)}`;
  return {
    "0/ip": address,
    "0/ipv4/0": address,
    "0/ipv6/0": `fe80::${suffix}`,
    "0/ipv6/1": `2001:db8:0:1:${suffix}`,
  };
}

const linuxFeatures = Object.freeze({
  "platform-feature-multiprocessor-suspend": "1",
  "has-vendor-device": "0",
  "feature-balloon": "1",
  "feature-shutdown": "1",
  "feature-reboot": "1",
  "feature-suspend": "1",
  "feature-vcpu-hotplug": "1",
  "feature-poweroff": "1",
  "feature-static-ip-setting": "0",
  data_updated: "1",
  "feature-ts": "1",
  "feature-ts2": "1",
  "feature-setcomputername": "0",
  "feature-xen-platform-pci": "1",
  "feature-vss": "0",
  "feature-xs-batcmd": "0",
});
const windowsFeatures = Object.freeze({
  ...linuxFeatures,
  "has-vendor-device": "1",
  "feature-vcpu-hotplug": "0",
  "feature-static-ip-setting": "1",
  "feature-setcomputername": "1",
  "feature-vss": "1",
  "feature-xs-batcmd": "1",
});

/** The address of the guest's first interface. */
export function guestAddress(index: number): string {
  return `10.${8 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`;
}

function hex(value: number): string {
  return ((value & 255) + 0x100).toString(16);
}
