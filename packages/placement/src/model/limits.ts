/** What hosts may be given, beyond what the model says. */
export interface Limits {
  /** VCPUs for each physical CPU; absent: any number, as XAPI has it. */
  readonly vcpusPerCore?: number;
  /** Of a host's memory, 0 to 1, kept free by what is placed anew. Absent: 0. */
  readonly memoryReserve?: number;
}

/** spread: most room first. pack: least room that does. */
export type Order = "spread" | "pack";
