import { createHash, randomUUID } from "node:crypto";
import { RepositoryError } from "../errors.js";
import {
  deletionErrors,
  parsePage,
  absenceProblem,
  rangeProblem,
  sizeOf,
  type ListPage,
  type ListedObject,
} from "./s3-answers.js";
import { S3Client, type S3ClientOptions } from "./s3-client.js";
import { encodePart } from "./s3-signature.js";
import type { S3Location } from "./storage-location.js";
import type { ByteRange, Storage, StoredFile } from "./storage.js";

/** Objects that one request deletes at most. */
const DELETE_BATCH = 1000;
const PROBE_FOLDER = "tmp";

/**
 * A part of a bucket of an object store with the API of Amazon S3. It must know conditional
 * writes (`If-None-Match: *`): the order of the log depends on them.
 */
export class S3Storage implements Storage {
  readonly location: string;
  readonly #client: S3Client;
  readonly #prefix: string;
  /** Whether conditional writes work; checked before the first write. */
  #checked: Promise<void> | undefined;

  /** @throws RepositoryError `invalid` */
  constructor(location: S3Location, options?: S3ClientOptions) {
    const { prefix = "" } = location;
    this.#client = new S3Client(location, options);
    const folder = prefix.replaceAll(/^\/+|\/+$/g, "");
    this.#prefix = folder === "" ? "" : `${folder}/`;
    this.location = urlOf(location, folder);
  }

  async putIfAbsent(
    name: string,
    parts: readonly Uint8Array[],
  ): Promise<boolean> {
    this.#checked ??= this.#checkConditionalWrites();
    await this.#checked;
    return this.#put(name, parts);
  }

  async read(name: string, range?: ByteRange): Promise<Buffer> {
    if (range?.length === 0) return Buffer.alloc(0);
    const { offset = 0, length = 0 } = range ?? {};
    const { status, body } = await this.#client.send({
      method: "GET",
      key: this.#prefix + name,
      ...(range && {
        headers: { range: `bytes=${offset}-${offset + length - 1}` },
      }),
      expected: [200, 206, 404, 416],
      problemOf: (response) =>
        absenceProblem(response) ??
        (range && rangeProblem(response, { offset, length })),
    });
    if (status === 404)
      throw new RepositoryError("missing", `${name} does not exist`);
    // The range begins behind the end.
    if (status === 416) return Buffer.alloc(0);
    if (range === undefined) return body;
    return status === 200 ? body.subarray(offset, offset + length) : body;
  }

  async size(name: string): Promise<number | undefined> {
    const { status, headers } = await this.#client.send({
      method: "HEAD",
      key: this.#prefix + name,
      expected: [200, 404],
      problemOf: (response) =>
        response.status === 200 && Number.isNaN(sizeOf(response))
          ? "no size"
          : undefined,
    });
    return status === 404 ? undefined : sizeOf({ headers });
  }

  async *list(folder: string): AsyncIterable<StoredFile> {
    for await (const { name, size } of this.#list(folder)) yield { name, size };
  }

  async remove(names: readonly string[]): Promise<void> {
    for (let i = 0; i < names.length; i += DELETE_BATCH) {
      const objects = names
        .slice(i, i + DELETE_BATCH)
        .map(
          (name) =>
            `<Object><Key>${escapeXml(this.#prefix + name)}</Key></Object>`,
        );
      const xml = `<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Quiet>true</Quiet>${objects.join("")}</Delete>`;
      const body = Buffer.from(xml);
      const md5 = createHash("md5").update(body).digest("base64");
      const response = await this.#client.send({
        method: "POST",
        isWrite: true,
        query: { delete: "" },
        headers: { "content-md5": md5, "content-type": "application/xml" },
        body: [body],
        expected: [200],
        // Deleting again is safe.
        problemOf: (response) =>
          deletionErrors(response).find((code) => code !== "AccessDenied"),
      });
      if (deletionErrors(response).length > 0)
        throw new RepositoryError(
          "read-only",
          `${this.location}: the access key may not delete objects`,
        );
    }
  }

  /** The object store copies it, then it is deleted. */
  async move(from: string, to: string): Promise<void> {
    const bucket = this.#client.bucket;
    await this.#client.send({
      method: "PUT",
      isWrite: true,
      key: this.#prefix + to,
      headers: {
        "x-amz-copy-source": [bucket, ...(this.#prefix + from).split("/")]
          .map(encodePart)
          .join("/"),
      },
      expected: [200],
      problemOf: ({ body }) =>
        body.includes("<CopyObjectResult") ? undefined : "no copy",
    });
    await this.remove([from]);
  }

  /** Writes are complete or do not exist; only the objects of interrupted checks are left. */
  async removeTemporaryFiles(before: number): Promise<void> {
    const names: string[] = [];
    for await (const { name, modified } of this.#list(PROBE_FOLDER))
      if (modified < before) names.push(name);
    await this.remove(names);
  }

  async #put(name: string, parts: readonly Uint8Array[]): Promise<boolean> {
    const { status, isRepeated } = await this.#client.send({
      method: "PUT",
      isWrite: true,
      key: this.#prefix + name,
      headers: { "if-none-match": "*" },
      body: parts,
      expected: [200, 412],
    });
    if (status === 200) return true;
    // An attempt without an answer may have created it.
    if (!isRepeated) return false;
    return (await this.read(name)).equals(Buffer.concat(parts));
  }

  /** @throws RepositoryError `unsupported` */
  async #checkConditionalWrites(): Promise<void> {
    const name = `${PROBE_FOLDER}/${randomUUID()}`;
    const first = await this.#put(name, [Buffer.from("1")]);
    const second = await this.#put(name, [Buffer.from("2")]);
    await this.remove([name]);
    if (!first || second)
      throw new RepositoryError(
        "unsupported",
        `${this.location}: the object store does not support conditional writes (If-None-Match)`,
      );
  }

  async *#list(folder: string): AsyncGenerator<ListedObject, void> {
    let token: string | undefined;
    do {
      let page: ListPage | undefined;
      await this.#client.send({
        method: "GET",
        query: {
          "list-type": "2",
          "encoding-type": "url",
          prefix: `${this.#prefix}${folder}/`,
          ...(token !== undefined && { "continuation-token": token }),
        },
        expected: [200],
        problemOf: (response) => {
          page = parsePage(response, this.#prefix);
          return page === undefined ? "no complete list" : undefined;
        },
      });
      yield* page!.objects;
      token = page!.next;
    } while (token !== undefined);
  }
}

/** Where it is, without keys: all that a new server needs besides them. */
function urlOf(
  { endpoint, bucket, region, virtualHost = false }: S3Location,
  folder: string,
): string {
  const { host, protocol } = new URL(endpoint);
  const options = new URLSearchParams({ region });
  if (protocol === "http:") options.set("protocol", "http");
  if (virtualHost) options.set("path_style", "false");
  const path = [bucket, ...folder.split("/")].filter((part) => part !== "");
  return `s3://${host}/${path.map(encodePart).join("/")}?${options.toString()}`;
}

function escapeXml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}
