import { FolderStorage } from "./folder-storage.js";
import { ResponsiveStorage } from "./responsive-storage.js";
import { S3Storage } from "./s3-storage.js";
import type { StorageLocation } from "./storage-location.js";
import type { Storage } from "./storage.js";

/** As long as an object store is tried, in milliseconds. */
const FOLDER_LIMIT_MS = 300_000;

/**
 * @param limitMs time for one operation in a folder, in milliseconds
 * @throws RepositoryError `invalid`
 */
export function openStorage(
  location: StorageLocation,
  limitMs = FOLDER_LIMIT_MS,
): Storage {
  switch (location.type) {
    case "folder":
      return new ResponsiveStorage(new FolderStorage(location.path), {
        limitMs,
      });
    case "s3":
      return new S3Storage(location);
  }
}
