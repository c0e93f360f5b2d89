import type { UpdateSystem } from "../updates/update-package.js";
import type { FleetBuilder } from "./fleet-builder.js";
import type { FleetProfile } from "./profiles.js";
import { restrictions } from "./guest-constants.js";

/** Version, edition and license of a host. */
export function softwareFields(
  builder: FleetBuilder,
  { system = "xcp-ng" }: FleetProfile,
) {
  const edition = system === "xcp-ng" ? "xcp-ng" : "premium-per-socket";
  return {
    API_version_major: 2,
    API_version_minor: 23,
    API_version_vendor: "XenSource",
    software_version: softwareVersions[system],
    capabilities: hostCapabilities,
    supported_bootloaders: ["pygrub", "eliloader"],
    license_params: { ...licenseParams, sku_type: edition },
    edition,
    editions: [edition],
    last_software_update: builder.ago(40 * 86400),
    latest_synced_updates_applied: system === "xenserver-8" ? "unknown" : "yes",
    last_update_hash: "",
  };
}

const xcpNg = Object.freeze({
  product_version: "8.3.0",
  product_version_text: "8.3",
  product_version_text_short: "8.3",
  platform_name: "XCP",
  platform_version: "3.4.0",
  product_brand: "XCP-ng",
  build_number: "cloud",
  git_id: "0",
  hostname: "localhost",
  date: "20250926T12:59:14Z",
  dbv: "0.0.1",
  xapi: "25.6",
  xapi_build: "25.6.0",
  xen: "4.17.5-20",
  linux: "4.19.0+1",
  xencenter_min: "2.21",
  xencenter_max: "2.21",
  network_backend: "openvswitch",
  db_schema: "5.786",
});

const softwareVersions: Readonly<
  Record<UpdateSystem, Readonly<Record<string, string>>>
> = {
  "xcp-ng": xcpNg,
  "xenserver-8": Object.freeze({
    ...xcpNg,
    product_brand: "XenServer",
    product_version: "8.4.0",
    product_version_text: "8",
    product_version_text_short: "8",
  }),
  "xenserver-7": Object.freeze({
    ...xcpNg,
    product_brand: "XenServer",
    product_version: "7.1.2",
    product_version_text: "7.1 CU2",
    product_version_text_short: "7.1",
  }),
};

const hostCapabilities = Object.freeze([
  "xen-3.0-x86_64",
  "hvm-3.0-x86_32",
  "hvm-3.0-x86_32p",
  "hvm-3.0-x86_64",
]);

const licenseParams = Object.freeze({
  ...restrictions,
  sku_type: "xcp-ng",
  version: "",
  serialnumber: "",
  sockets: "2",
  expiry: "20330101T00:00:00Z",
  name: "",
  address1: "",
  city: "",
  state: "",
  postalcode: "",
  country: "",
  company: "",
});
