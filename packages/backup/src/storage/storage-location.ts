import type { TlsTrust } from "../net/tls-trust.js";

/** Where a repository is. */
export type StorageLocation = FolderLocation | S3Location;

interface FolderLocation {
  readonly type: "folder";
  /** An absolute path. */
  readonly path: string;
}

/** A part of a bucket of an object store that has the API of Amazon S3. */
export interface S3Location {
  readonly type: "s3";
  /** For example `https://s3.eu-west-1.amazonaws.com`; without a path. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** All objects begin with it and `/`; empty or undefined: the whole bucket. */
  readonly prefix?: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Whether the bucket is a part of the host name instead of the path; default false. */
  readonly virtualHost?: boolean;
  readonly tls?: TlsTrust;
}
