import { createReadStream, createWriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { pipeline } from "node:stream/promises";
import { fileError } from "../cli-error.js";
import { toBytes } from "../output/cell.js";
import { Progress } from "../output/progress.js";
import type { Terminal } from "../output/terminal.js";
import { toAnswerError } from "./connection-error.js";
import { readText, type Rest } from "./rest.js";

/** `-` and undefined are stdout. */
export async function download(
  response: IncomingMessage,
  file: string | undefined,
  terminal: Terminal,
): Promise<void> {
  const total = Number(response.headers["content-length"] ?? NaN);
  const progress = new Progress(terminal, file ?? "");
  let done = 0;
  async function* counted() {
    for await (const chunk of response) {
      done += (chunk as Buffer).length;
      await progress.show(
        total > 0 ? (100 * done) / total : undefined,
        toBytes(done),
      );
      yield chunk as Buffer;
    }
  }
  try {
    if (file === undefined || file === "-")
      for await (const chunk of counted()) await terminal.write(chunk);
    else await pipeline(counted(), createWriteStream(file));
  } catch (error) {
    throw toTransferError(error, file);
  } finally {
    await progress.clear();
  }
}

interface Upload {
  readonly method: string;
  readonly path: string;
  readonly file: string;
}

/** @returns the response of the server */
export async function upload(
  rest: Rest,
  { method, path, file }: Upload,
  terminal: Terminal,
): Promise<IncomingMessage> {
  const size = await sizeOf(file);
  const progress = new Progress(terminal, file);
  const source = createReadStream(file);
  let done = 0;
  source.on("data", (chunk) => {
    done += chunk.length;
    void progress.show((100 * done) / size, toBytes(done));
  });
  try {
    return await rest.request({
      method,
      path,
      body: source,
      headers: {
        "content-type": "application/octet-stream",
        "content-length": size,
      },
    });
  } catch (error) {
    throw toTransferError(error, file);
  } finally {
    source.destroy();
    await progress.clear();
  }
}

/** Uploads a file. @returns the response as text @throws CliError, RequestError */
export async function uploadText(
  rest: Rest,
  what: Upload,
  terminal: Terminal,
): Promise<string> {
  return readText(await upload(rest, what, terminal));
}

async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    throw fileError(file, error);
  }
}

function toTransferError(error: unknown, file: string | undefined): unknown {
  const { syscall } = error as NodeJS.ErrnoException;
  return syscall === "open" || syscall === "write" || syscall === "read"
    ? fileError(file ?? "-", error)
    : toAnswerError(error);
}
