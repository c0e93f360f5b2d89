import { invalid } from "./soap-client.js";

/** A file of a datastore. */
export interface DatastorePath {
  readonly datastore: string;
  /** Folders, `folder/subfolder`; empty: the root. */
  readonly folder: string;
  readonly file: string;
}

/** @param path `[datastore] folder/disk.vmdk` @throws RepositoryError `source-invalid` */
export function parseDatastorePath(path: string): DatastorePath {
  const [, datastore, rest = ""] = /^\[([^\]]+)\] *(.+)$/.exec(path) ?? [];
  if (datastore === undefined || rest.split("/").includes(".."))
    throw invalid(`"${path.slice(0, 200)}" is not a path of a datastore`);
  const at = rest.lastIndexOf("/");
  return {
    datastore,
    folder: at < 0 ? "" : rest.slice(0, at),
    file: rest.slice(at + 1),
  };
}

/** The path of its URL. @param dataCenter path of the data center */
export function toUrlPath(
  { datastore, folder, file }: DatastorePath,
  dataCenter: string,
): string {
  const names = [...(folder === "" ? [] : folder.split("/")), file];
  const query = new URLSearchParams({ dcPath: dataCenter, dsName: datastore });
  return `/folder/${names.map(encodeURIComponent).join("/")}?${query.toString()}`;
}
