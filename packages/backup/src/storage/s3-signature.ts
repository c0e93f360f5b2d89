import { createHash, createHmac } from "node:crypto";

/** A request to sign. Paths and queries as they are sent. */
interface UnsignedRequest {
  readonly method: string;
  /** Encoded path, beginning with `/`. */
  readonly path: string;
  /** Names and values, not encoded. */
  readonly query: Readonly<Record<string, string>>;
  /** Names in lower case; `host` is needed. */
  readonly headers: Readonly<Record<string, string>>;
  /** SHA-256 of the body, hexadecimal. */
  readonly bodyDigest: string;
}

interface SigningKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
}

const ALGORITHM = "AWS4-HMAC-SHA256";

/**
 * Signs by AWS Signature Version 4:
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 * @param time milliseconds since the epoch
 * @returns the headers to send
 */
export function signRequest(
  request: UnsignedRequest,
  key: SigningKey,
  time: number,
): Record<string, string> {
  const timestamp = `${new Date(time).toISOString().replaceAll(/[-:]|\.\d+/g, "")}`;
  const date = timestamp.slice(0, 8);
  const headers: Record<string, string> = {
    ...request.headers,
    "x-amz-content-sha256": request.bodyDigest,
    "x-amz-date": timestamp,
  };
  const names = Object.keys(headers).sort();
  const signed = names.join(";");
  const canonical = [
    request.method,
    request.path,
    encodeQuery(request.query),
    ...names.map((name) => `${name}:${headers[name]!.trim()}`),
    "",
    signed,
    request.bodyDigest,
  ].join("\n");
  const scope = `${date}/${key.region}/s3/aws4_request`;
  const text = [ALGORITHM, timestamp, scope, sha256(canonical)].join("\n");
  let derived = hmac(`AWS4${key.secretAccessKey}`, date);
  for (const part of [key.region, "s3", "aws4_request"])
    derived = hmac(derived, part);
  const signature = hmac(derived, text).toString("hex");
  const credential = `${key.accessKeyId}/${scope}`;
  headers["authorization"] =
    `${ALGORITHM} Credential=${credential}, SignedHeaders=${signed}, Signature=${signature}`;
  return headers;
}

/** Sorted, as it is signed and sent. */
export function encodeQuery(query: Readonly<Record<string, string>>): string {
  return Object.keys(query)
    .sort()
    .map((name) => `${encodePart(name)}=${encodePart(query[name]!)}`)
    .join("&");
}

/** Encodes a part of a path or a query: all but `A-Z a-z 0-9 - _ . ~`. */
export function encodePart(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text, "utf8").digest();
}
