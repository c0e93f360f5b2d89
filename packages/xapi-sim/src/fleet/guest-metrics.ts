import type { FleetBuilder, FleetFields } from "./fleet-builder.js";
import type { GuestSystem } from "./guest-systems.js";

/** What the agent in a guest has reported, or the empty record of a guest without one. */
export function addGuestMetrics(
  builder: FleetBuilder,
  guest: {
    readonly system: GuestSystem;
    readonly index: number;
    readonly live: boolean;
  },
): string {
  const last_updated = builder.ago(builder.dice.int(1, 600));
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
  const address = guestAddress(index);
  return {
    os_version: system.osVersion,
    netbios_name: windows
      ? {
          host_name: `WIN-${index}`,
          domain: "example.com",
          dns_domain: "example.com",
        }
      : {},
    PV_drivers_version: {
      major: windows ? "9" : "7",
      minor: windows ? "3" : "30",
      micro: windows ? "3" : "0",
      build: windows ? "125" : "12",
    },
    PV_drivers_up_to_date: true,
    PV_drivers_detected: true,
    networks: {
      "0/ip": address,
      "0/ipv4/0": address,
      "0/ipv6/0": `fe80::216:3eff:fe${hex(index >> 8)}:${hex(index)}`,
      "0/ipv6/1": `2001:db8:0:1:216:3eff:fe${hex(index >> 8)}:${hex(index)}`,
    },
    other: {
      "platform-feature-multiprocessor-suspend": "1",
      "has-vendor-device": windows ? "1" : "0",
      "feature-balloon": "1",
      "feature-shutdown": "1",
      "feature-reboot": "1",
      "feature-suspend": "1",
      "feature-vcpu-hotplug": windows ? "0" : "1",
      "feature-poweroff": "1",
      "feature-static-ip-setting": windows ? "1" : "0",
      data_updated: "1",
      "feature-ts": "1",
      "feature-ts2": "1",
      "feature-setcomputername": windows ? "1" : "0",
      "feature-xen-platform-pci": "1",
      "feature-vss": windows ? "1" : "0",
      "feature-xs-batcmd": windows ? "1" : "0",
    },
    can_use_hotplug_vbd: "yes",
    can_use_hotplug_vif: "yes",
  };
}

/** The address of the guest's first interface. */
export function guestAddress(index: number): string {
  return `10.${8 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`;
}

function hex(value: number): string {
  return ((value & 255) + 0x100).toString(16);
}
