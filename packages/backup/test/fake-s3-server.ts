import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import type { Test } from "tap";
import { signRequest } from "../src/storage/s3-signature.js";
import type { S3Location } from "../src/storage/storage-location.js";

export interface FakeS3 {
  readonly location: S3Location;
  readonly objects: Map<string, Buffer>;
  /** Method, path and query of all requests. */
  readonly requests: string[];
  /** Answers instead of the server if it returns true. */
  fault: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Called after a request had its effect; true: the answer is lost. */
  losesAnswer: (request: IncomingMessage) => boolean;
  /** Whether `If-None-Match` is ignored, as by old servers. */
  ignoresConditions: boolean;
}

const key = {
  accessKeyId: "KEYID",
  secretAccessKey: "the secret key",
  region: "local-1",
};
/** Objects of one answer to a list. */
const PAGE = 3;

/** A small object store that checks signatures. */
export async function startFakeS3(t: Test): Promise<FakeS3> {
  const fake: FakeS3 = {
    location: {} as S3Location,
    objects: new Map(),
    requests: [],
    fault: () => false,
    losesAnswer: () => false,
    ignoresConditions: false,
  };
  const server = createServer((request, response) => {
    void handle(fake, request, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const endpoint = `http://127.0.0.1:${port}`;
  const location: S3Location = {
    type: "s3",
    endpoint,
    bucket: "bucket",
    prefix: "my backups/one",
    ...key,
  };
  return Object.assign(fake, { location });
}

async function handle(
  fake: FakeS3,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await bodyOf(request);
  if (body === undefined) return;
  fake.requests.push(`${request.method} ${request.url}`);
  if (fake.fault(request, response)) return;
  const refuse = (status: number, code: string): void => {
    response.statusCode = status;
    response.end(`<Error><Code>${code}</Code><Message>KEYID</Message></Error>`);
  };
  if (!isSigned(request, body)) return refuse(403, "SignatureDoesNotMatch");
  const url = new URL(request.url!, "http://localhost");
  const name = decodeURIComponent(url.pathname).slice("/bucket/".length);
  const stored = fake.objects.get(name);
  switch (request.method ?? "GET") {
    case "PUT": {
      const source = request.headers["x-amz-copy-source"];
      if (source !== undefined)
        return copyObject(fake, { source: String(source), name }, response);
      const isNew = request.headers["if-none-match"] !== "*";
      if (stored && !isNew && !fake.ignoresConditions)
        return refuse(412, "PreconditionFailed");
      fake.objects.set(name, body);
      if (fake.losesAnswer(request)) return void request.socket.destroy();
      return void response.end();
    }
    case "HEAD":
      response.statusCode = stored ? 200 : 404;
      if (stored) response.setHeader("content-length", stored.length);
      return void response.end();
    case "POST":
      return deleteObjects(fake, { request, response, body });
    default:
      if (name === "") return listObjects(fake, url, response);
      if (!stored) return refuse(404, "NoSuchKey");
      return sendObject(stored, request, response);
  }
}

function copyObject(
  { objects }: FakeS3,
  { source, name }: { readonly source: string; readonly name: string },
  response: ServerResponse,
): void {
  const bytes = objects.get(
    decodeURIComponent(source).replace(/^\/?bucket\//, ""),
  );
  if (bytes === undefined) {
    response.statusCode = 404;
    return void response.end("<Error><Code>NoSuchKey</Code></Error>");
  }
  objects.set(name, bytes);
  response.end("<CopyObjectResult></CopyObjectResult>");
}

/** The body; undefined: the client has ended the request, for example because it waited too long. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch (error) {
    if (request.destroyed && !request.complete) return undefined;
    throw error;
  }
  return Buffer.concat(chunks);
}

function isSigned(request: IncomingMessage, body: Buffer): boolean {
  const given = request.headers.authorization ?? "";
  const names = /SignedHeaders=([^,]+)/.exec(given)?.[1]?.split(";") ?? [];
  const headers = Object.fromEntries(
    names
      .filter((name) => !["x-amz-date", "x-amz-content-sha256"].includes(name))
      .map((name) => [name, String(request.headers[name])]),
  );
  const url = new URL(request.url!, "http://localhost");
  const date = String(request.headers["x-amz-date"]);
  const time = date.replace(
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/,
    "$1-$2-$3T$4:$5:$6Z",
  );
  const expected = signRequest(
    {
      method: request.method!,
      path: request.url!.split("?")[0]!,
      query: Object.fromEntries(url.searchParams),
      headers,
      bodyDigest: createHash("sha256").update(body).digest("hex"),
    },
    key,
    Date.parse(time),
  );
  return expected["authorization"] === given && names.includes("host");
}

function sendObject(
  bytes: Buffer,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const range = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? "");
  if (range === null) return void response.end(bytes);
  const start = Number(range[1]);
  if (start >= bytes.length) return void response.writeHead(416).end();
  const part = bytes.subarray(start, Number(range[2]) + 1);
  response.statusCode = 206;
  const last = start + part.length - 1;
  response.setHeader("content-range", `bytes ${start}-${last}/${bytes.length}`);
  response.end(part);
}

function listObjects(fake: FakeS3, url: URL, response: ServerResponse): void {
  const prefix = url.searchParams.get("prefix") ?? "";
  const after = url.searchParams.get("continuation-token") ?? "";
  const names = [...fake.objects.keys()]
    .filter((name) => name.startsWith(prefix) && name > after)
    .sort();
  const page = names.slice(0, PAGE);
  const contents = page.map(
    (name) =>
      `<Contents><Key>${encodeURIComponent(name).replaceAll("%20", "+")}</Key><LastModified>2026-01-01T00:00:00Z</LastModified><Size>${fake.objects.get(name)!.length}</Size></Contents>`,
  );
  const more = names.length > page.length;
  const next = more
    ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>`
    : "";
  response.end(
    `<?xml version="1.0"?><ListBucketResult><IsTruncated>${more}</IsTruncated>${contents.join("")}${next}</ListBucketResult>`,
  );
}

function deleteObjects(
  fake: FakeS3,
  {
    request,
    response,
    body,
  }: { request: IncomingMessage; response: ServerResponse; body: Buffer },
): void {
  const md5 = createHash("md5").update(body).digest("base64");
  if (request.headers["content-md5"] !== md5)
    return void response.writeHead(400).end();
  for (const [, name] of body.toString().matchAll(/<Key>([^<]*)<\/Key>/g))
    fake.objects.delete(name!);
  response.end("<DeleteResult/>");
}
