import type { StorageLocation } from "@xo-server/backup";
import { isAbsolute, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import {
  formatS3Url,
  invalidUrl,
  isS3Url,
  parseS3Url,
  S3_FORM,
  unquoted,
  type PublicS3Location,
} from "./s3-url.js";

/** A storage without secrets. */
type PublicLocation =
  | Extract<StorageLocation, { type: "folder" }>
  | PublicS3Location;

/** The parts of the URL of a repository. */
export interface RepositoryLocation {
  /** The stored URL: without secrets, with a normalized path. */
  readonly url: string;
  readonly storage: PublicLocation;
  /** Secret key of an object store, if the URL contains it. */
  readonly secretAccessKey?: string;
  /** Value of the parameter `encryptionKey`, which clients of Xen Orchestra use. */
  readonly passphrase?: string;
}

const FORMS = `file:///absolute/path (a folder or a mount), ${S3_FORM}`;

/**
 * @throws XoError INVALID_PARAMETERS with the allowed forms, without any part of
 * the URL that may be secret
 */
export function parseRepositoryUrl(text: string): RepositoryLocation {
  const url = URL.parse(text);
  if (url === null)
    throw invalid(
      isAbsolute(text)
        ? `it is a path; as a URL it is ${pathToFileURL(text).href}`
        : "it is not a URL; are / and @ in its keys percent-encoded?",
    );
  if (isS3Url(url)) return parseS3Url(url);
  if (url.protocol !== "file:")
    throw invalid(`${url.protocol}// is not supported`);
  if (url.host !== "") throw invalid(`a host (${url.host}) is not allowed`);
  const passphrase = unquoted(url.searchParams.get("encryptionKey") ?? "");
  url.search = "";
  url.hash = "";
  const path = toPath(url);
  if (!isAbsolute(path) || path.includes("\0"))
    throw invalid("the path is not absolute");
  const folder = resolve(path);
  if (folder === "/") throw invalid("the root folder is not allowed");
  return {
    url: `file://${encodeURI(folder)}`,
    storage: { type: "folder", path: folder },
    ...(passphrase === "" ? {} : { passphrase }),
  };
}

/**
 * The location of a new URL. Keys that it omits remain, if host and bucket are the
 * same.
 * @param before the stored URL and secret key
 * @throws XoError INVALID_PARAMETERS
 */
export function changeLocation(
  text: string,
  before: { readonly url: string; readonly secretAccessKey?: string },
): RepositoryLocation {
  const location = parseRepositoryUrl(text);
  const { storage } = location;
  const { storage: old } = parseRepositoryUrl(before.url);
  if (storage.type !== "s3" || old.type !== "s3") return location;
  if (hostOf(storage) !== hostOf(old) || storage.bucket !== old.bucket)
    return location;
  const { accessKeyId = old.accessKeyId } =
    storage.accessKeyId === "" ? {} : storage;
  const secretAccessKey =
    location.secretAccessKey ??
    (accessKeyId === old.accessKeyId ? before.secretAccessKey : undefined);
  const kept = { ...storage, accessKeyId };
  return {
    ...location,
    url: formatS3Url(kept),
    storage: kept,
    ...(secretAccessKey === undefined ? {} : { secretAccessKey }),
  };
}

/** Storage location for a worker. @throws XoError INVALID_PARAMETERS without the keys of an object store */
export function toStorage({
  storage,
  secretAccessKey,
}: Pick<RepositoryLocation, "storage" | "secretAccessKey">): StorageLocation {
  if (storage.type === "folder") return storage;
  if (storage.accessKeyId === "" || secretAccessKey === undefined)
    throw invalidUrl(
      "the access key or the secret key is missing; stored ones are kept only while host, bucket and access key stay the same",
      S3_FORM,
    );
  return { ...storage, secretAccessKey };
}

/** Credentials to store, encrypted. */
export function toCredentials(
  recoveryKey: string | undefined,
  { secretAccessKey }: Pick<RepositoryLocation, "secretAccessKey">,
): Record<string, string> {
  return {
    ...(recoveryKey === undefined ? {} : { recoveryKey }),
    ...(secretAccessKey === undefined ? {} : { secretAccessKey }),
  };
}

function hostOf({ endpoint }: PublicS3Location): string {
  return new URL(endpoint).host;
}

function toPath(url: URL): string {
  try {
    return fileURLToPath(url);
  } catch (error) {
    throw invalid(error instanceof Error ? error.message : String(error));
  }
}

function invalid(reason: string): ReturnType<typeof invalidUrl> {
  return invalidUrl(reason, FORMS);
}
