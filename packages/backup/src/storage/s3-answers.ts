import type { S3Response } from "./s3-client.js";
import type { ByteRange, StoredFile } from "./storage.js";

/*
 * What answers of an object store say. They are read with patterns, not with an XML parser: keys are
 * URL-encoded, and what does not match is not an answer.
 */

export interface ListedObject extends StoredFile {
  /** Milliseconds since the epoch. */
  readonly modified: number;
}

/** One answer to a list. */
export interface ListPage {
  readonly objects: readonly ListedObject[];
  /** Where the next page begins. */
  readonly next: string | undefined;
}

/** @returns undefined: a part of it is missing or wrong */
export function parsePage(
  { body }: Pick<S3Response, "body">,
  prefix: string,
): ListPage | undefined {
  const xml = body.toString("utf8");
  if (!/<\/ListBucketResult>\s*$|<ListBucketResult[^>]*\/>\s*$/.test(xml))
    return undefined;
  const objects: ListedObject[] = [];
  for (const element of elements(xml, "Contents")) {
    const object = parseObject(element, prefix);
    if (object === undefined) return undefined;
    objects.push(object);
  }
  if (elementOf(xml, "IsTruncated") !== "true")
    return { objects, next: undefined };
  const next = elementOf(xml, "NextContinuationToken") ?? "";
  return next === "" ? undefined : { objects, next };
}

function parseObject(object: string, prefix: string): ListedObject | undefined {
  const key = elementOf(object, "Key") ?? "";
  // Some stores do not encode keys.
  const name = [decodeKey(key), key].find((one) => one.startsWith(prefix));
  const size = Number(elementOf(object, "Size") ?? NaN);
  const modified = Date.parse(elementOf(object, "LastModified") ?? "");
  if (name === undefined || !Number.isSafeInteger(size)) return undefined;
  return { name: name.slice(prefix.length), size, modified };
}

/** As in forms: a space is a plus sign. */
function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll("+", "%20"));
  } catch {
    return key; // not encoded
  }
}

/** @returns NaN if the answer has no size */
export function sizeOf({ headers }: Pick<S3Response, "headers">): number {
  const size = Number(headers["content-length"] ?? NaN);
  return Number.isSafeInteger(size) ? size : NaN;
}

/** Whether status 404 means something else than an absent object: an absent bucket, or a proxy whose store is gone. */
export function absenceProblem({
  status,
  body,
}: Omit<S3Response, "isRepeated">): string | undefined {
  if (status !== 404) return undefined;
  const text = body.subarray(0, 4096).toString("utf8");
  const code = elementOf(text, "Code");
  if (code !== undefined && code !== "NoSuchKey") return "no object store";
  return /<html|<!doctype html/i.test(text) ? "a web page" : undefined;
}

/** Whether a part of an object is the one that was requested, and complete. */
export function rangeProblem(
  { status, headers, body }: Omit<S3Response, "isRepeated">,
  { offset, length }: ByteRange,
): string | undefined {
  if (status !== 206) return undefined;
  const range = headers["content-range"] ?? "";
  const [, first, last, total] =
    /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(range)?.map(Number) ?? [];
  if (first !== offset || last === undefined || last >= offset + length)
    return "another range than was requested";
  const isCut = last < offset + length - 1 && last + 1 < Number(total);
  return isCut || body.length !== last - first + 1
    ? "only a part of what was requested"
    : undefined;
}

/** Codes of the objects that could not be deleted. */
export function deletionErrors({ body }: Pick<S3Response, "body">): string[] {
  return [...elements(body.toString("utf8"), "Error")]
    .map((error) => elementOf(error, "Code") ?? "")
    .map((code) => (/^[A-Za-z]{1,64}$/.test(code) ? code : "unknown"))
    .filter((code) => code !== "NoSuchKey");
}

/** The contents of all elements of a name; none of them holds another one of this name. */
function* elements(xml: string, name: string): Generator<string> {
  const pattern = new RegExp(`<${name}>([\\s\\S]*?)</${name}>`, "g");
  for (const [, content] of xml.matchAll(pattern)) yield content!;
}

/** The text of the first element of a name. */
function elementOf(xml: string, name: string): string | undefined {
  const content = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  return content
    ?.replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#34;", '"')
    .replaceAll("&apos;", "'")
    .replaceAll("&amp;", "&");
}
