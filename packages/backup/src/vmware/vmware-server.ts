import type { TlsTrust } from "../net/tls-trust.js";

/** An ESXi host or a vCenter server. The password is part of no message. */
export interface VmwareServer {
  /** Name or address, with `:port` if it is not 443. */
  readonly host: string;
  readonly user: string;
  readonly password: string;
  readonly tls?: TlsTrust;
}

/** A VM as a list shows it. */
export interface VmwareVm {
  /** Managed object id, such as `vm-55`. */
  readonly id: string;
  readonly name: string;
  readonly powerState: string;
  readonly vcpus: number;
  /** Bytes. */
  readonly memory: number;
  readonly firmware: "bios" | "uefi";
  readonly guestOs: string;
  readonly hasSnapshots: boolean;
  readonly disks: readonly {
    readonly name: string;
    /** Bytes. */
    readonly size: number;
    readonly datastore: string;
  }[];
  readonly networks: readonly {
    readonly name: string;
    readonly mac: string;
  }[];
  /** Why it cannot be imported, whatever its power state is; absent: it can. */
  readonly obstacle?: string;
}
