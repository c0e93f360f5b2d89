/** An update that a host lacks, as the server lists it. */
export interface MissingPatch {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly release?: string;
  readonly size?: number;
  readonly after:
    | "nothing"
    | "restart-toolstack"
    | "restart-device-model"
    | "reboot-vm"
    | "reboot-host";
  readonly isSecurity: boolean;
  readonly advisories: readonly string[];
  readonly changelog?: { readonly description: string } | null;
}
