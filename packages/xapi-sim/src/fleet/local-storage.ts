import type { DraftObject, FleetBuilder } from "./fleet-builder.js";
import type { FleetHost } from "./fleet-host.js";
import { addSr } from "./storage-repository.js";

const GiB = 2 ** 30;

/** The SRs that XAPI makes on every host: DVD drives, removable storage, local disks. Answers the last. */
export function addLocalSrs(
  builder: FleetBuilder,
  host: FleetHost,
): DraftObject {
  const hosts = [host];
  for (const { location, ...fields } of hotplug)
    addSr(builder, fields, { hosts, device_config: { location } });
  return addSr(
    builder,
    {
      name_label: "Local storage",
      name_description: `Local disks of ${host.host.record["name_label"] as string}`,
      type: "ext",
      physical_size: 7000 * GiB,
      sm_config: { devserial: "" },
      other_config: translated("local-storage", "Local storage"),
    },
    {
      hosts,
      device_config: {
        device: "/dev/disk/by-id/scsi-36d09466051bd2d002b7d0e1c0a2f4c11-part3",
      },
    },
  );
}

const hotplug = [
  {
    name_label: "DVD drives",
    name_description: "Physical DVD drives",
    type: "udev",
    content_type: "iso",
    sm_config: { type: "cd" },
    other_config: translated("local-hotplug-cd", "DVD drives"),
    location: "/dev/xapi/cd",
  },
  {
    name_label: "Removable storage",
    type: "udev",
    content_type: "disk",
    sm_config: { type: "block" },
    other_config: translated("local-hotplug-disk", "Removable storage"),
    location: "/dev/xapi/block",
  },
] as const;

/** The key under which clients find the name in the user's language. */
function translated(key: string, name: string) {
  return { i18n_key: key, "i18n-original-value-name_label": name };
}
