/** A file system of a disk, read only. All methods throw FileSystemError. */
export interface FileSystem {
  /** As `mount` calls it. */
  readonly type: string;
  readonly label: string;
  /**
   * Whether it was in use when the disk was read, as that of a running VM: changes of the last
   * seconds may be in its journal only, which is not replayed. Undefined: not known.
   */
  readonly wasInUse: boolean | undefined;
  root(): Promise<FileNode>;
}

export type FileKind = "file" | "folder" | "link" | "other";

/** A file, folder or symbolic link. */
export interface FileNode {
  readonly kind: FileKind;
  /** Equal for the same file of a file system. */
  readonly id: string;
  /** Bytes of the content; 0 for folders. */
  readonly size: number;
  /** Milliseconds since the epoch. */
  readonly modified: number;
  /** Permissions of Unix; undefined where the file system has none. */
  readonly mode?: number;
  /** Of a folder, without `.` and `..`; in the order of the disk, names as they are there. */
  entries(): AsyncIterable<FolderEntry>;
  /** Of a file: exactly `size` bytes, in parts of some MiB at most, not to be changed. */
  content(): AsyncIterable<Buffer>;
  /** Of a link: the path that it names. */
  target(): Promise<string>;
}

export interface FolderEntry {
  readonly name: string;
  readonly open: () => Promise<FileNode>;
}
