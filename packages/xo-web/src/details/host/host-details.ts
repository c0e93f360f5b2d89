import type { Host } from "../../objects/infrastructure.js";
import type { TextMap } from "../../api/object-row.js";

/** Properties that only the page of a host uses. Times in seconds since the epoch. */
export type HostDetails = Host & {
  readonly build: string;
  readonly bios_strings: TextMap;
  readonly certificates: readonly {
    readonly fingerprint: string;
    readonly notAfter?: number;
  }[];
  readonly controlDomain?: string;
  readonly chipset_info: { readonly iommu?: boolean };
  readonly hvmCapable: boolean;
  readonly iscsiIqn: string;
  readonly license_params: TextMap;
  readonly license_expiry: number | null;
  readonly logging: TextMap;
  readonly multipathing: boolean;
  readonly powerOnMode: string;
  readonly residentVms: readonly string[];
  readonly supplementalPacks: readonly SupplementalPack[];
  readonly PIFs: readonly string[];
  readonly PCIs: readonly string[];
  readonly PGPUs: readonly string[];
  readonly $PBDs: readonly string[];
};

interface SupplementalPack {
  readonly name: string;
  readonly description: string;
  readonly version?: string;
  readonly author?: string;
}
