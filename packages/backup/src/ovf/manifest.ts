import { createHash, type Hash } from "node:crypto";
import { invalid } from "./ovf-error.js";

const ALGORITHMS: ReadonlyMap<string, string> = new Map([
  ["SHA1", "sha1"],
  ["SHA256", "sha256"],
  ["SHA512", "sha512"],
]);

/** Checksums of files, by name: `algorithm:hexadecimal`. */
type Sums = ReadonlyMap<string, string>;

/** Computes the checksums of one file while it is read. */
class FileSums {
  readonly #hashes: ReadonlyMap<string, Hash> = new Map(
    [...ALGORITHMS.values()].map((name) => [name, createHash(name)]),
  );

  /** @param only the algorithm that is needed; undefined: not known yet */
  constructor(only?: string) {
    if (only === undefined) return;
    const hash = this.#hashes.get(only);
    this.#hashes = new Map(hash === undefined ? [] : [[only, hash]]);
  }

  update(bytes: Uint8Array): void {
    for (const hash of this.#hashes.values()) hash.update(bytes);
  }

  /** No bytes may follow. */
  digests(): string[] {
    return Array.from(
      this.#hashes,
      ([name, hash]) => `${name}:${hash.digest("hex")}`,
    );
  }
}

/**
 * Compares the files of a package with its manifest, which may come before or after them;
 * without a manifest nothing is compared.
 */
export class ManifestCheck {
  readonly #found = new Map<string, readonly string[]>();
  #sums: Sums | undefined;

  /** The checksums that the file with this name needs. */
  open(name: string): FileSums {
    return new FileSums(this.#sums?.get(name)?.split(":")[0]);
  }

  /** @throws RepositoryError `source-invalid` if the checksum is another */
  add(name: string, sums: FileSums): void {
    const digests = sums.digests();
    this.#found.set(name, digests);
    if (this.#sums !== undefined) check(this.#sums, name, digests);
  }

  /** @throws RepositoryError `source-invalid`, also if a file before it has another checksum */
  read(text: string): void {
    const sums = parseManifest(text);
    this.#sums = sums;
    for (const [name, digests] of this.#found) check(sums, name, digests);
  }
}

function check(sums: Sums, name: string, digests: readonly string[]): void {
  const expected = sums.get(name);
  if (expected === undefined)
    throw invalid(`the manifest has no checksum of ${name}`);
  if (!digests.includes(expected))
    throw invalid(
      `${name} does not match its checksum ${expected} in the manifest`,
    );
}

/** Lines such as `SHA256(disk1.vmdk)= 0123…`. */
function parseManifest(text: string): Sums {
  const sums = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === "") continue;
    const [, kind = "", name = "", digest = ""] =
      /^(SHA\d+)\s*\((.+)\)\s*=\s*([\da-fA-F]+)\s*$/.exec(line) ?? [];
    const algorithm = ALGORITHMS.get(kind);
    if (algorithm === undefined)
      throw invalid(`the manifest has the line "${line.slice(0, 100)}"`);
    sums.set(name, `${algorithm}:${digest.toLowerCase()}`);
  }
  return sums;
}
