import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { RepositoryError } from "../errors.js";
import { HttpClient, parseUrl } from "../net/http-client.js";
import { encodePart, encodeQuery, signRequest } from "./s3-signature.js";
import type { S3Location } from "./storage-location.js";

/** Waits before the attempts of one request, in milliseconds. */
const RETRY_MS = [0, 200, 1000, 4000, 10_000];
const STALL_MS = 60_000;
/** The largest body that is read. */
const MAX_BODY = 256 * 1024 * 1024;
const RETRIED = new Set([408, 409, 429, 500, 502, 503, 504]);

/** An object store did not execute a request. No `RepositoryError`: files are neither missing nor damaged. */
class S3Error extends Error {
  override readonly name = "S3Error";
  readonly code: "storage-failed" | "storage-untrusted";

  constructor(code: S3Error["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

interface S3Request {
  readonly method: "GET" | "PUT" | "HEAD" | "POST";
  /** Of an object; undefined: a request to the bucket. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Whether it changes the bucket. */
  readonly isWrite?: boolean;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: readonly Uint8Array[];
  /** Statuses that are results; others are errors. */
  readonly expected: readonly number[];
  /** What is wrong with an answer of such a status; it is requested again then. */
  readonly problemOf?: (
    response: Omit<S3Response, "isRepeated">,
  ) => string | undefined;
}

export interface S3Response {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Whether an earlier attempt may have had an effect. */
  readonly isRepeated: boolean;
}

export interface S3ClientOptions {
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  readonly delay?: (ms: number) => Promise<unknown>;
  readonly stallMs?: number;
}

/** Signed requests to one bucket, repeated after failures that pass. */
export class S3Client {
  readonly name: string;
  readonly bucket: string;
  readonly #location: S3Location;
  readonly #http: HttpClient;
  readonly #host: string;
  readonly #root: string;
  readonly #now: () => number;
  readonly #delay: (ms: number) => Promise<unknown>;

  /** @throws RepositoryError `invalid` */
  constructor(location: S3Location, options: S3ClientOptions = {}) {
    const { now = Date.now, delay = sleep, stallMs = STALL_MS } = options;
    const { endpoint, bucket, virtualHost = false, tls } = location;
    if (!/^[a-z0-9][a-z0-9._-]{1,62}$/i.test(bucket))
      throw new RepositoryError(
        "invalid",
        "storage: the name of the bucket is not allowed, 2 to 63 of a-z, 0-9, . _ and -",
      );
    const url = parseUrl(endpoint);
    if (virtualHost) url.hostname = `${bucket}.${url.hostname}`;
    this.#location = location;
    this.bucket = bucket;
    this.#http = new HttpClient({ url, tls, stallMs, keepAlive: true });
    this.#host = url.host;
    this.#root = virtualHost ? "/" : `/${encodePart(bucket)}/`;
    this.#now = now;
    this.#delay = delay;
    this.name = `${this.#http.name}/${bucket}`;
  }

  /** @throws S3Error */
  async send(request: S3Request): Promise<S3Response> {
    let failure: S3Error | undefined;
    for (const [attempt, ms] of RETRY_MS.entries()) {
      if (ms > 0) await this.#delay(ms);
      try {
        const response = await this.#sendOnce(request);
        const { status } = response;
        const isExpected = request.expected.includes(status);
        const problem = isExpected ? problemOf(request, response) : undefined;
        if (isExpected && problem === undefined)
          return { ...response, isRepeated: attempt > 0 };
        failure = this.#failure(response, problem);
        if (request.isWrite === true && isDenied(response))
          throw new RepositoryError(
            "read-only",
            `${this.name}: the access key may not write or delete objects (${failure.message})`,
          );
        if (!isExpected && !RETRIED.has(status)) break;
      } catch (error) {
        if (!(error instanceof RepositoryError) || error.code === "read-only")
          throw error;
        if (error.code !== "transfer-failed")
          throw new S3Error("storage-untrusted", error.message, {
            cause: error,
          });
        failure = new S3Error("storage-failed", error.message, {
          cause: error,
        });
      }
    }
    throw failure!;
  }

  close(): void {
    this.#http.close();
  }

  async #sendOnce(request: S3Request): Promise<Omit<S3Response, "isRepeated">> {
    const { method, key = "", query = {}, body = [] } = request;
    const digest = createHash("sha256");
    let length = 0;
    for (const part of body) {
      digest.update(part);
      length += part.byteLength;
    }
    const path = this.#root + key.split("/").map(encodePart).join("/");
    const headers = signRequest(
      {
        method,
        path,
        query,
        headers: { ...request.headers, host: this.#host },
        bodyDigest: digest.digest("hex"),
      },
      this.#location,
      this.#now(),
    );
    const search = encodeQuery(query);
    const hasBody = method === "PUT" || method === "POST";
    const response = await this.#http.send({
      method,
      path: search === "" ? path : `${path}?${search}`,
      headers: {
        ...headers,
        ...(hasBody && { "content-length": String(length) }),
      },
      ...(hasBody && { body }),
    });
    const parts: Buffer[] = [];
    let size = 0;
    for await (const bytes of this.#http.read(response)) {
      size += bytes.length;
      if (size > MAX_BODY)
        throw new S3Error("storage-failed", `${this.name}: too long a body`);
      parts.push(bytes);
    }
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      body: Buffer.concat(parts),
    };
  }

  #failure(
    { status, body }: Pick<S3Response, "status" | "body">,
    problem: string | undefined,
  ): S3Error {
    // The code is a word of the API; the message may name the keys of the account.
    const code = /<Code>([A-Za-z]{1,64})<\/Code>/.exec(startOf(body));
    const text = code === null ? `${status}` : `${status}, ${code[1]}`;
    const more = problem === undefined ? "" : `: ${problem}`;
    return new S3Error(
      "storage-failed",
      `${this.name}: it answers with status ${text}${more}`,
    );
  }
}

/** What is wrong with an answer of an expected status. */
function problemOf(
  { problemOf }: S3Request,
  response: Omit<S3Response, "isRepeated">,
): string | undefined {
  // Some stores and proxies have sent the status before they fail.
  if (
    response.status < 300 &&
    /^\s*(<\?xml[^>]*>\s*)?<Error>/.test(startOf(response.body))
  )
    return "an error in the body";
  return problemOf?.(response);
}

/** The text of an error is short. */
function startOf(body: Buffer): string {
  return body.subarray(0, 4096).toString("utf8");
}

/** A key that is wrong or unknown has other codes. */
function isDenied({
  status,
  body,
}: Pick<S3Response, "status" | "body">): boolean {
  return status === 403 && body.includes("<Code>AccessDenied</Code>");
}
