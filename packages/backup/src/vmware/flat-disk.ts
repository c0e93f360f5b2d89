import type { IncomingMessage } from "node:http";
import { RepositoryError } from "../errors.js";
import type { DiskPart } from "../foreign/foreign-vm.js";
import {
  parseDatastorePath,
  toUrlPath,
  type DatastorePath,
} from "./datastore-path.js";
import { parseFlatDescriptor, type FlatExtent } from "./flat-descriptor.js";
import { invalid, type SoapClient } from "./soap-client.js";

/** Bytes of a request: the session is used again often enough to stay valid. */
const RANGE = 64 * 1024 * 1024;
const MAX_DESCRIPTOR = 256 * 1024;
/** Attempts without a single byte. */
const MAX_ATTEMPTS = 4;
const PAUSE_MS = 1_000;

interface FlatDisk {
  /** `[datastore] folder/disk.vmdk` */
  readonly file: string;
  /** Bytes. */
  readonly size: number;
  /** Path of the data center of its datastore. */
  readonly dataCenter: string;
}

/** The bytes of a flat disk, in order. @throws RepositoryError `transfer-failed`, `source-invalid` */
export async function* readFlatDisk(
  client: SoapClient,
  { file, size, dataCenter }: FlatDisk,
): AsyncGenerator<DiskPart, void> {
  const path = parseDatastorePath(file);
  const text = await readText(client, toUrlPath(path, dataCenter));
  for (const extent of parseFlatDescriptor(text, size)) {
    if (extent.file === undefined) continue;
    const url = urlOf(path, extent.file, dataCenter);
    for (let done = 0; done < extent.size; done += RANGE) {
      const length = Math.min(RANGE, extent.size - done);
      yield* readRange(client, url, { extent, done, length });
    }
  }
}

function urlOf(path: DatastorePath, file: string, dataCenter: string): string {
  return toUrlPath({ ...path, file }, dataCenter);
}

async function readText(client: SoapClient, url: string): Promise<string> {
  const response = await open(client, url, `bytes=0-${MAX_DESCRIPTOR - 1}`);
  const parts: Buffer[] = [];
  let size = 0;
  for await (const bytes of client.read(response)) {
    size += bytes.length;
    if (size > MAX_DESCRIPTOR) throw invalid("the descriptor is too large");
    parts.push(bytes);
  }
  return Buffer.concat(parts).toString();
}

interface Range {
  readonly extent: FlatExtent;
  /** Bytes of the extent before it. */
  readonly done: number;
  readonly length: number;
}

/** Resumes an interrupted transfer at the position that was reached. */
async function* readRange(
  client: SoapClient,
  url: string,
  { extent, done, length }: Range,
): AsyncGenerator<DiskPart, void> {
  let at = 0;
  for (let attempt = 1; at < length;) {
    const first = extent.offset + done + at;
    const last = extent.offset + done + length - 1;
    try {
      const response = await open(client, url, `bytes=${first}-${last}`);
      checkRange(response, first, last);
      for await (const bytes of client.read(response)) {
        if (at + bytes.length > length)
          throw invalid("more than was requested");
        yield { offset: extent.start + done + at, bytes };
        at += bytes.length;
        attempt = 1;
      }
      if (at < length)
        throw new RepositoryError("transfer-failed", "a response was short");
    } catch (error) {
      const isLost =
        error instanceof RepositoryError && error.code === "transfer-failed";
      if (!isLost || attempt++ >= MAX_ATTEMPTS) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * attempt));
    }
  }
}

/** Signs in again if the session has expired. */
async function open(
  client: SoapClient,
  url: string,
  range: string,
): Promise<IncomingMessage> {
  const response = await client.get(url, range);
  if (response.statusCode !== 401) return checked(client, response);
  response.destroy();
  await client.signIn();
  return checked(client, await client.get(url, range));
}

function checked(
  client: SoapClient,
  response: IncomingMessage,
): IncomingMessage {
  const { statusCode } = response;
  if (statusCode === 206 || statusCode === 200) return response;
  response.destroy();
  throw new RepositoryError(
    "transfer-failed",
    `${client.name}: a file of the datastore: status ${statusCode}`,
  );
}

/** A server that ignores ranges sends the file from its beginning, which is accepted only for the whole file. */
function checkRange(
  { statusCode, headers }: IncomingMessage,
  first: number,
  last: number,
): void {
  if (statusCode === 200 && first === 0) return;
  const [, from, to] =
    /^bytes (\d+)-(\d+)\//.exec(headers["content-range"] ?? "") ?? [];
  if (statusCode !== 206 || Number(from) !== first || Number(to) !== last)
    throw invalid("the server has sent other bytes than requested");
}
