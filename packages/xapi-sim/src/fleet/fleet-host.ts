import type { DraftObject } from "./fleet-builder.js";

/** A host while its fleet is being made. */
export interface FleetHost {
  readonly host: DraftObject;
  readonly metrics: DraftObject;
  /** The address that the host record reports. */
  readonly address: string;
  /** Where its consoles are served: at the coordinator's where it has no address of its own. */
  readonly consoleAddress: string;
  /** PCI devices of the network interfaces, eth0 first. */
  readonly nics: readonly DraftObject[];
  /** Bytes that are still free for guests. */
  freeMemory: number;
}
