/** Something that is not as it was written. */
export interface Finding {
  /** Name of the file. */
  readonly file: string;
  readonly problem:
    /** The file does not exist. */
    | "missing"
    /** The file has other bytes than were written. */
    | "damaged"
    /** No parity file protects this pack. */
    | "unprotected"
    /** The log does not name this file: an interrupted backup, or a lost entry of the log. */
    | "not-in-log"
    /** The name is none of a repository's: another program or a person left this file. It is not touched. */
    | "unknown-name"
    /** Parts of a backup contradict each other. */
    | "inconsistent";
  /** Whether the file is as it was written again, or what backups need of it is in other packs. */
  isRepaired: boolean;
  /** Ids of the backups that need the file; of a missing pack, those that lack content of it. */
  readonly backups: readonly string[];
  readonly detail?: string;
}
