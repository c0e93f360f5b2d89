import type { StorageLocation } from "@xo-server/backup";
import { XoError } from "@xo-server/model";
import { isAbsolute, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** What the URL of a repository names. */
export interface RepositoryLocation {
  /** As it is stored: without secrets, with a normal path. */
  readonly url: string;
  readonly storage: StorageLocation;
  /** Of the parameter `encryptionKey`, which clients of Xen Orchestra use. */
  readonly passphrase?: string;
}

const FORMS = "file:///absolute/path (a folder or a mount)";

/** @throws XoError INVALID_PARAMETERS with the allowed forms */
export function parseRepositoryUrl(text: string): RepositoryLocation {
  const url = URL.parse(text);
  if (url === null) throw invalid(`\`${text}\` is not a URL`);
  if (url.protocol !== "file:")
    throw invalid(`${url.protocol}// is not supported`);
  if (url.host !== "") throw invalid(`a host (${url.host}) is not allowed`);
  const passphrase = unquoted(url.searchParams.get("encryptionKey"));
  url.search = "";
  url.hash = "";
  const path = toPath(url);
  if (!isAbsolute(path) || path.includes("\0"))
    throw invalid("the path is not absolute");
  const folder = resolve(path);
  if (folder === "/") throw invalid("the root folder is not allowed");
  return {
    url: `file://${encodeURI(folder)}`,
    storage: { type: "folder", path: folder },
    ...(passphrase === undefined ? {} : { passphrase }),
  };
}

function toPath(url: URL): string {
  try {
    return fileURLToPath(url);
  } catch (error) {
    throw invalid(error instanceof Error ? error.message : String(error));
  }
}

/** Xen Orchestra writes values of URLs as JSON. */
function unquoted(text: string | null): string | undefined {
  if (text === null || text === "") return undefined;
  return /^".*"$/.test(text) ? text.slice(1, -1) : text;
}

function invalid(reason: string): XoError {
  return new XoError("INVALID_PARAMETERS", {
    reason: `url: ${reason}; allowed: ${FORMS}`,
    errors: [{ instancePath: "/url", keyword: "format", message: reason }],
  });
}
