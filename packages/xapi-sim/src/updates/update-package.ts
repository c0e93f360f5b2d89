/** XAPI's `update_guidances`, as far as updates require them. */
export type UpdateGuidance =
  | "reboot_host"
  | "restart_toolstack"
  | "restart_device_model"
  | "restart_vm";

/** How a host is updated. */
export const updateSystems = ["xcp-ng", "xenserver-8", "xenserver-7"] as const;
export type UpdateSystem = (typeof updateSystems)[number];

/** One package of the repositories. */
export interface UpdatePackage {
  readonly name: string;
  readonly version: string;
  readonly release: string;
  readonly description: string;
  /** Bytes. */
  readonly size: number;
  readonly url: string;
  readonly license: string;
  /** `date` in Unix seconds. */
  readonly changelog: {
    readonly date: number;
    readonly author: string;
    readonly description: string;
  } | null;
  readonly guidance?: UpdateGuidance;
  readonly isSecurity?: boolean;
  /** Members of the host's software_version after its next boot. */
  readonly software?: Readonly<Record<string, string>>;
}
