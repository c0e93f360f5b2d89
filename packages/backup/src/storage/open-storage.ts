import { FolderStorage } from "./folder-storage.js";
import { S3Storage } from "./s3-storage.js";
import type { StorageLocation } from "./storage-location.js";
import type { Storage } from "./storage.js";

/** @throws RepositoryError `invalid` */
export function openStorage(location: StorageLocation): Storage {
  switch (location.type) {
    case "folder":
      return new FolderStorage(location.path);
    case "s3":
      return new S3Storage(location);
  }
}
