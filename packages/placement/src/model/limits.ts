/** Limits on the use of hosts, beyond those of the model. */
export interface Limits {
  /**
   * Maximum number of VCPUs per physical CPU. Absent: unlimited, as in XAPI.
   */
  readonly vcpusPerCore?: number;
  /**
   * Share of a host's memory, 0 to 1, that new placements leave free. Absent:
   * 0.
   */
  readonly memoryReserve?: number;
}

/**
 * spread: prefer the host with the most headroom. pack: prefer the host with
 * the least sufficient headroom.
 */
export type Order = "spread" | "pack";
