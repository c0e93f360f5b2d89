import { RepositoryError } from "../errors.js";
import { FolderStorage } from "./folder-storage.js";
import type { StorageLocation } from "./storage-location.js";
import type { Storage } from "./storage.js";

/** @throws RepositoryError `invalid` */
export function openStorage(location: StorageLocation): Storage {
  switch (location.type) {
    case "folder":
      return new FolderStorage(location.path);
    case "s3":
      throw new RepositoryError("unsupported", "storage: s3 is not available");
  }
}
