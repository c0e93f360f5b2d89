import type { DraftObject, FleetBuilder } from "./fleet-builder.js";

/** Adds further objects of a host: certificates, a feature, the keyboard of its remote console. */
export function addCertificates(
  builder: FleetBuilder,
  host: DraftObject,
): void {
  for (const type of ["host", "host_internal"])
    addCertificate(builder, host, type);
  builder.add("Feature", {
    name_label: "guest-file-service",
    name_description: "Guest file service",
    enabled: true,
    experimental: true,
    version: "1.0",
    host: host.ref,
  });
  const group = builder.add("USB_group", {
    name_label: "Group of 0624 0249 USBs",
  });
  builder.add("PUSB", { ...keyboard, host: host.ref, USB_group: group.ref });
}

const keyboard = {
  path: "1-11",
  vendor_id: "0624",
  vendor_desc: "Avocent Corp.",
  product_id: "0249",
  product_desc: "Virtual Keyboard/Mouse",
  serial: "20180726",
  version: "2.00",
  description: "Avocent Corp._Virtual Keyboard/Mouse_20180726",
  speed: 480,
};

function addCertificate(
  builder: FleetBuilder,
  host: DraftObject,
  type: string,
): void {
  const sha256 = fingerprint(builder, 32);
  builder.add("Certificate", {
    name: "",
    type,
    host: host.ref,
    not_before: builder.ago(300 * 86400),
    not_after: builder.ago(-3350 * 86400),
    fingerprint: sha256,
    fingerprint_sha256: sha256,
    fingerprint_sha1: fingerprint(builder, 20),
  });
}

/** `0A:1B:...` */
function fingerprint({ random }: FleetBuilder, bytes: number): string {
  return Array.from({ length: bytes }, () =>
    random.int(0, 255).toString(16).toUpperCase().padStart(2, "0"),
  ).join(":");
}
