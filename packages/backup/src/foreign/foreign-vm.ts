/** A VM of another product: the settings that an import keeps. */
export interface ForeignVm {
  readonly name: string;
  readonly description: string;
  readonly vcpus: number;
  /** Undefined: one. */
  readonly coresPerSocket?: number;
  /** Bytes. */
  readonly memory: number;
  readonly firmware: "bios" | "uefi";
  readonly secureBoot: boolean;
  /** In the order in which the source delivers their contents. */
  readonly disks: readonly ForeignDisk[];
  /** In the order of their device numbers. */
  readonly nics: readonly ForeignNic[];
}

export interface ForeignDisk {
  /** Unique in the VM. */
  readonly id: string;
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** Device number, from 0: the VM boots from the first disk. */
  readonly position: number;
}

export interface ForeignNic {
  /** Name of the network at the source. */
  readonly network: string;
  /** Undefined: it gets a new one. */
  readonly mac?: string;
}

/** Contents of a disk; bytes that no part contains are zero. */
export interface DiskPart {
  /** Bytes. */
  readonly offset: number;
  readonly bytes: Uint8Array;
}

export interface ForeignContent {
  readonly disk: ForeignDisk;
  /** In ascending order of their offsets, without overlaps. */
  readonly parts: AsyncIterable<DiskPart>;
}

/** Where a VM is imported from. */
export interface ForeignSource {
  readonly vm: ForeignVm;
  /** The contents of all disks, in their order; each is read to its end before the next. */
  contents(): AsyncIterable<ForeignContent>;
  /** After the last content. @throws RepositoryError if what was read is not what the source announced */
  verify(): Promise<void>;
  /** Releases the source. */
  close?(): Promise<void>;
}
