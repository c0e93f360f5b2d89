import type { StorageLocation } from "@xo-server/backup";
import { XoError } from "@xo-server/model";
import { closest } from "fastest-levenshtein";

/** An object store without its secret key. */
export type PublicS3Location = Omit<
  Extract<StorageLocation, { type: "s3" }>,
  "secretAccessKey"
>;

/** The parts of the URL of a bucket. */
interface S3UrlParts {
  /** The stored and displayed URL, in the form of Xen Orchestra, without the secret key. */
  readonly url: string;
  /** Its access key is empty if the URL has none. */
  readonly storage: PublicS3Location;
  readonly secretAccessKey?: string;
  readonly passphrase?: string;
}

interface Parameters {
  region?: string;
  protocol?: "http" | "https";
  pathStyle?: boolean;
  fingerprint?: string;
  allowUnauthorized?: boolean;
  passphrase?: string;
}

export const S3_FORM =
  "s3://ACCESS_KEY:SECRET_KEY@HOST[:PORT]/BUCKET[/PREFIX]?region=REGION (an object store; keys are percent-encoded)";
const OPTIONS = [
  "region",
  "protocol",
  "path_style",
  "useVirtualHostedStyle",
  "fingerprint",
  "allowUnauthorized",
  "encryptionKey",
  "useVhdDirectory",
];
const BUCKET = /^[a-z0-9][a-z0-9._-]{1,62}$/i;

/** Whether a URL is to be parsed by `parseS3Url`. */
export function isS3Url({ protocol }: URL): boolean {
  return protocol === "s3:" || protocol === "s3+http:";
}

/** @throws XoError INVALID_PARAMETERS that names the problem, but no key */
export function parseS3Url(url: URL): S3UrlParts {
  const options = optionsOf(url);
  const isHttp = url.protocol === "s3+http:";
  const protocol = options.protocol ?? (isHttp ? "http" : "https");
  const host = url.host.toLowerCase();
  if (!/^([a-z0-9._-]+|\[[0-9a-f:.]+\])(:\d+)?$/.test(host))
    throw invalid("the host is missing or not allowed");
  const [bucket = "", ...folders] = url.pathname
    .split("/")
    .filter((part) => part !== "")
    .map((part) => decoded(part, "the path"));
  if (!BUCKET.test(bucket))
    throw invalid(
      "the name of the bucket is missing or not allowed, 2 to 63 of a-z, 0-9, . _ and -",
    );
  const prefix = folders.join("/");
  // eslint-disable-next-line no-control-regex -- they are what is refused
  if (/[\0-\x1f\x7f]/.test(prefix) || /(^|\/)\.{1,2}(\/|$)/.test(prefix))
    throw invalid("the prefix has control characters, . or ..");
  const { fingerprint, allowUnauthorized = false } = options;
  if (protocol === "http" && (fingerprint !== undefined || allowUnauthorized))
    throw invalid("fingerprint and allowUnauthorized need protocol=https");
  const storage: PublicS3Location = {
    type: "s3",
    endpoint: `${protocol}://${host}`,
    region: options.region ?? regionOf(host),
    bucket,
    ...(prefix === "" ? {} : { prefix }),
    accessKeyId: decoded(url.username, "the access key"),
    ...(options.pathStyle === false ? { virtualHost: true } : {}),
    ...tlsOf(fingerprint, allowUnauthorized),
  };
  const secret = decoded(url.password, "the secret key");
  const { passphrase } = options;
  return {
    url: formatS3Url(storage),
    storage,
    ...(secret === "" ? {} : { secretAccessKey: secret }),
    ...(passphrase === undefined ? {} : { passphrase }),
  };
}

/** Formats the URL as clients of Xen Orchestra parse it: options are JSON, the region is the fragment. */
export function formatS3Url(storage: PublicS3Location): string {
  const { endpoint, bucket, prefix, accessKeyId, region, tls } = storage;
  const [protocol, host] = endpoint.split("://") as [string, string];
  const path = [bucket, ...(prefix === undefined ? [] : prefix.split("/"))];
  const options = [
    ...(storage.virtualHost === true ? ["useVirtualHostedStyle=true"] : []),
    ...(tls?.insecure === true ? ["allowUnauthorized=true"] : []),
    ...(tls?.fingerprints ?? []).map((one) => `fingerprint=%22${one}%22`),
  ];
  return [
    `${protocol === "http" ? "s3+http" : "s3"}://`,
    accessKeyId === "" ? "" : `${encodeURIComponent(accessKeyId)}@`,
    `${host}/${path.map(encodeURIComponent).join("/")}`,
    options.length === 0 ? "" : `?${options.join("&")}`,
    `#${encodeURIComponent(region)}`,
  ].join("");
}

function tlsOf(
  fingerprint: string | undefined,
  allowUnauthorized: boolean,
): Pick<PublicS3Location, "tls"> {
  if (fingerprint !== undefined)
    return { tls: { fingerprints: [fingerprint] } };
  return allowUnauthorized ? { tls: { insecure: true } } : {};
}

/** Options from the query, and from the fragment: a region, or a JSON object. */
function optionsOf(url: URL): Parameters {
  const options: Parameters = {};
  const fragment = decoded(url.hash.slice(1), "the fragment");
  const input = [...url.searchParams];
  if (fragment.startsWith("{")) input.push(...membersOf(fragment));
  else if (fragment !== "") input.push(["region", fragment]);
  for (const [name, text] of input) setOption(options, name, unquoted(text));
  return options;
}

function membersOf(json: string): [string, string][] {
  try {
    return Object.entries(JSON.parse(json) as object).map(([name, value]) => [
      name,
      String(value),
    ]);
  } catch {
    throw invalid("the fragment is not a JSON object");
  }
}

function setOption(options: Parameters, name: string, value: string): void {
  switch (name) {
    case "region":
      if (!/^[A-Za-z0-9_-]{1,64}$/.test(value))
        throw invalid("region: 1 to 64 of a-z, 0-9, _ and - are allowed");
      options.region = value;
      break;
    case "protocol":
      if (value !== "http" && value !== "https")
        throw invalid("protocol: only http and https are allowed");
      options.protocol = value;
      break;
    case "path_style":
      options.pathStyle = toBoolean(name, value);
      break;
    case "useVirtualHostedStyle":
      options.pathStyle = !toBoolean(name, value);
      break;
    case "fingerprint":
      options.fingerprint = value.replaceAll(":", "").toLowerCase();
      if (!/^[0-9a-f]{64}$/.test(options.fingerprint))
        throw invalid("fingerprint: only the 64 hexadecimal digits of SHA-256");
      break;
    case "allowUnauthorized":
      options.allowUnauthorized = toBoolean(name, value);
      break;
    case "encryptionKey":
      if (value !== "") options.passphrase = value;
      break;
    case "useVhdDirectory":
      // How Xen Orchestra stores disks; this server has one format.
      break;
    default:
      throw invalid(
        `the option ${name.slice(0, 32)} is not known, did you mean ${closest(name, OPTIONS)}? Known: ${OPTIONS.join(", ")}`,
      );
  }
}

/** Xen Orchestra writes false as an empty string. */
function toBoolean(name: string, value: string): boolean {
  if (value === "true") return true;
  if (value === "false" || value === "") return false;
  throw invalid(`${name}: only true and false are allowed`);
}

function regionOf(host: string): string {
  return /^s3[.-]([a-z0-9-]+)\.amazonaws\.com$/.exec(host)?.[1] ?? "us-east-1";
}

/** Xen Orchestra writes values of URLs as JSON. */
export function unquoted(text: string): string {
  return /^".*"$/.test(text) ? text.slice(1, -1) : text;
}

function decoded(text: string, what: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid(`${what} is not percent-encoded UTF-8`);
  }
}

function invalid(reason: string): XoError {
  return invalidUrl(reason, S3_FORM);
}

/** @param allowed the forms */
export function invalidUrl(reason: string, allowed: string): XoError {
  return new XoError("INVALID_PARAMETERS", {
    reason: `url: ${reason}; allowed: ${allowed}`,
    errors: [{ instancePath: "/url", keyword: "format", message: reason }],
  });
}
