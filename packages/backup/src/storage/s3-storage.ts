import { createHash, randomUUID } from "node:crypto";
import { RepositoryError } from "../errors.js";
import { S3Client, S3Error, type S3ClientOptions } from "./s3-client.js";
import type { S3Location } from "./storage-location.js";
import type { ByteRange, Storage, StoredFile } from "./storage.js";

/** Objects that one request deletes at most. */
const DELETE_BATCH = 1000;
const PROBE_FOLDER = "tmp";

interface ListedObject extends StoredFile {
  /** Milliseconds since the epoch. */
  readonly modified: number;
}

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
    const { prefix = "", bucket } = location;
    this.#client = new S3Client(location, options);
    const folder = prefix.replaceAll(/^\/+|\/+$/g, "");
    this.#prefix = folder === "" ? "" : `${folder}/`;
    this.location = `s3://${bucket}/${this.#prefix}`;
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
    const { status, headers, body } = await this.#client.send({
      method: "GET",
      key: this.#prefix + name,
      ...(range && {
        headers: { range: `bytes=${offset}-${offset + length - 1}` },
      }),
      expected: [200, 206, 404, 416],
    });
    if (status === 404)
      throw new RepositoryError("missing", `${name} does not exist`);
    // The range begins behind the end.
    if (status === 416) return Buffer.alloc(0);
    if (range === undefined) return body;
    if (status === 200) return body.subarray(offset, offset + length);
    const isRange = headers["content-range"]?.startsWith(`bytes ${offset}-`);
    if (!isRange || body.length > length)
      throw this.#unexpected("another range than was requested");
    return body;
  }

  async size(name: string): Promise<number | undefined> {
    const { status, headers } = await this.#client.send({
      method: "HEAD",
      key: this.#prefix + name,
      expected: [200, 404],
    });
    if (status === 404) return undefined;
    const size = Number(headers["content-length"] ?? NaN);
    if (!Number.isSafeInteger(size)) throw this.#unexpected("no size");
    return size;
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
      });
      for (const error of elements(response.body.toString("utf8"), "Error")) {
        const code = elementOf(error, "Code");
        if (code === "AccessDenied")
          throw new RepositoryError(
            "read-only",
            `${this.location}: the access key may not delete objects`,
          );
        if (code !== "NoSuchKey") throw this.#unexpected(`deletes: ${code}`);
      }
    }
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
      const { body } = await this.#client.send({
        method: "GET",
        query: {
          "list-type": "2",
          "encoding-type": "url",
          prefix: `${this.#prefix}${folder}/`,
          ...(token !== undefined && { "continuation-token": token }),
        },
        expected: [200],
      });
      const xml = body.toString("utf8");
      if (!xml.includes("<ListBucketResult")) throw this.#unexpected("no list");
      for (const object of elements(xml, "Contents")) yield this.#parse(object);
      token =
        elementOf(xml, "IsTruncated") === "true"
          ? elementOf(xml, "NextContinuationToken")
          : undefined;
    } while (token !== undefined && token !== "");
  }

  #parse(object: string): ListedObject {
    // As in forms: a space is a plus sign.
    const encoded = (elementOf(object, "Key") ?? "").replaceAll("+", "%20");
    const key = decodeURIComponent(encoded);
    const size = Number(elementOf(object, "Size") ?? NaN);
    const modified = Date.parse(elementOf(object, "LastModified") ?? "");
    if (!key.startsWith(this.#prefix) || !Number.isSafeInteger(size))
      throw this.#unexpected("a wrong list");
    return { name: key.slice(this.#prefix.length), size, modified };
  }

  #unexpected(what: string): S3Error {
    return new S3Error(
      "storage-failed",
      `${this.#client.name}: an unexpected response: ${what}`,
    );
  }
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

function escapeXml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}
