import { checkStatus, openEndpoint } from "../net/http-client.js";
import type { RestoreProgress } from "../read/restore-file.js";
import type { Image } from "./image.js";
import type { UploadTarget } from "./restore-target.js";

export interface TransferOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: RestoreProgress) => void) | undefined;
}

/**
 * Sends an image as the body of a PUT. XAPI answers before it has the body: only its task
 * says whether the import succeeded.
 * @throws RepositoryError `transfer-failed`, `untrusted`, `invalid`
 */
export async function upload(
  image: Image,
  target: UploadTarget,
  options: TransferOptions = {},
): Promise<RestoreProgress> {
  const { client, path, headers } = openEndpoint(target);
  const { signal } = options;
  try {
    const body = counted(image, options);
    const response = await client.send({
      method: "PUT",
      path,
      headers: { ...headers, "content-length": String(image.length) },
      body,
      signal,
    });
    checkStatus(client.name, response);
    // The server closes the connection when it has written everything.
    for await (const bytes of client.read(response, signal)) void bytes;
    return progressOf(image.length, image.length);
  } finally {
    client.close();
  }
}

/** The content, with progress: the first figures come before the first byte. */
export async function* counted(
  image: Image,
  { onProgress }: TransferOptions,
): AsyncGenerator<Buffer, void> {
  let done = 0;
  onProgress?.(progressOf(0, image.length));
  for await (const bytes of image.content()) {
    yield bytes;
    done += bytes.length;
    onProgress?.(progressOf(done, image.length));
  }
}

/** Progress of an upload, in bytes: everything that was read is also written. */
export function progressOf(done: number, total: number): RestoreProgress {
  return { done, total, written: done };
}
