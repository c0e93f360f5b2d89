/** A file of a storage. Names are relative paths with `/`, in ASCII. */
export interface StoredFile {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
}

/**
 * Where a repository is kept. Files are created whole and are never changed.
 * An object store can implement it: no rename, no append, no lock.
 * Errors of the storage itself (full, disconnected) are those of its implementation, except
 * RepositoryError `read-only` of `putIfAbsent` and `remove`.
 */
export interface Storage {
  /** For messages: a path or an address. */
  readonly location: string;
  /**
   * Creates a file if there is none of this name. It exists completely or not at
   * all, also after a crash; once the promise resolves it survives a loss of power.
   * @returns false if a file of this name exists: it is unchanged
   */
  putIfAbsent(name: string, parts: readonly Uint8Array[]): Promise<boolean>;
  /**
   * @param range part of the file; shorter than `length` where the file ends
   * @param memory may be used for the result if that fits; its content is lost
   * @throws RepositoryError `missing`
   */
  read(name: string, range?: ByteRange, memory?: Buffer): Promise<Buffer>;
  /** As `read`, of several parts of one file: where that takes less than a `read` for each. */
  readParts?(name: string, parts: readonly ByteRange[]): Promise<Buffer[]>;
  /** The size in bytes, or undefined if the file does not exist. */
  size(name: string): Promise<number | undefined>;
  /** All files in a folder and below it, in no particular order. */
  list(folder: string): AsyncIterable<StoredFile>;
  /**
   * Gives a file another name, without reading it; a file of that name is kept or replaced.
   * @throws if it does not exist
   */
  move?(from: string, to: string): Promise<void>;
  /** Deletes files; those that do not exist are ignored. */
  remove(names: readonly string[]): Promise<void>;
  /** Why files cannot be created now; undefined: they can, as far as is known without an attempt. */
  readOnlyReason?(): Promise<string | undefined>;
  /** Of the file system, in bytes; storages without a known limit do not have it. */
  capacity?(): Promise<{ readonly total: number; readonly free: number }>;
  /** Removes what interrupted writes left before a moment (milliseconds since the epoch). */
  removeTemporaryFiles(before: number): Promise<void>;
}

export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/** As `Storage.readParts`, of any storage. */
export function readParts(
  storage: Storage,
  name: string,
  parts: readonly ByteRange[],
): Promise<Buffer[]> {
  return (
    storage.readParts?.(name, parts) ??
    Promise.all(parts.map((part) => storage.read(name, part)))
  );
}

/** As `Storage.list`, complete. */
export async function listAll(
  storage: Storage,
  folder: string,
): Promise<StoredFile[]> {
  const files: StoredFile[] = [];
  for await (const file of storage.list(folder)) files.push(file);
  return files;
}
