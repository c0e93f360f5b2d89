/** A backup as `metadataBackup.getAll` returns it. Times in ms since the epoch, sizes in bytes. */
export interface MetadataBackup {
  /** `<repository>/<backup>` */
  readonly id: string;
  /** `xo`: the configuration of the server. */
  readonly type: "pool" | "xo";
  readonly backupRepository: string;
  readonly jobName?: string;
  readonly timestamp: number;
  readonly size: number;
  readonly pool?: { readonly uuid: string; readonly name_label?: string };
}
