import type { Duplex } from "node:stream";
import { RepositoryError } from "../errors.js";
import { dial, nameOf, type Address } from "../net/dial.js";
import { parseUrl } from "../net/http-client.js";
import type { HttpEndpoint } from "../net/http-endpoint.js";
import { SocketReader } from "../net/socket-reader.js";
import { encodePng, halve, type Bitmap } from "./png.js";
import { RfbClient } from "./rfb-client.js";

/** What the screen of a console shows. */
export interface ConsoleScreenshot {
  /** Pixels of the screenshot, which may be smaller than the screen. */
  readonly width: number;
  readonly height: number;
  /** PNG, base64. */
  readonly png: string;
}

const TIMEOUT_MS = 30_000;
/** Largest side of a screenshot, in pixels. */
const MAX_SIDE = 1_024;
/** Largest screenshot as PNG, in bytes. */
const MAX_BYTES = 128 * 1024;
const MAX_HEAD = 16 * 1024;
const END_OF_HEAD = "\r\n\r\n";

/**
 * Takes a screenshot of a console that an HTTP server offers by CONNECT and RFB, as XAPI does.
 * Screenshots that are large or do not compress well are made smaller.
 * @throws RepositoryError `transfer-failed`, `source-invalid`, `untrusted`
 */
export async function readConsole(
  endpoint: HttpEndpoint,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<ConsoleScreenshot> {
  const { url, headers = {}, tls, stallMs = TIMEOUT_MS } = endpoint;
  const { socketPath } = endpoint;
  const parsed = parseUrl(url);
  const isSecure = parsed.protocol === "https:";
  const address: Address = {
    host: parsed.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: Number(parsed.port || (isSecure ? 443 : 80)),
    socketPath,
  };
  const trust = isSecure ? (tls ?? {}) : undefined;
  const socket = await dial(address, trust);
  const reader = new SocketReader(socket);
  const end = () => {
    reader.fail(new Error(`no screenshot within ${stallMs} ms`));
  };
  const cancel = () => {
    reader.fail(new Error("it was cancelled"));
  };
  const timer = setTimeout(end, stallMs);
  signal?.addEventListener("abort", cancel, { once: true });
  if (signal?.aborted === true) cancel();
  try {
    await connect(socket, reader, {
      address,
      target: parsed.pathname + parsed.search,
      headers,
    });
    return toScreenshot(await new RfbClient(socket, reader).readScreen());
  } catch (error) {
    if (error instanceof RepositoryError) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw new RepositoryError(
      "transfer-failed",
      `${nameOf(address)}: ${message}`,
      { cause: error },
    );
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", cancel);
    socket.destroy();
  }
}

/** Sends the request; the bytes that follow the response are the console's. */
async function connect(
  socket: Duplex,
  reader: SocketReader,
  request: {
    readonly address: Address;
    readonly target: string;
    readonly headers: Readonly<Record<string, string>>;
  },
): Promise<void> {
  const { address, target, headers } = request;
  const lines = [
    `CONNECT ${target} HTTP/1.1`,
    `Host: ${nameOf(address)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.write(`${lines.join("\r\n")}${END_OF_HEAD}`, "latin1");
  let head = "";
  // Byte by byte: nothing of the console may be read.
  while (!head.endsWith(END_OF_HEAD)) {
    if (head.length >= MAX_HEAD) throw new Error("its response is too long");
    head += (await reader.read(1)).toString("latin1");
  }
  const status = Number(/^HTTP\/1\.\d (\d{3})/.exec(head)?.[1] ?? 0);
  if (status !== 200) throw new Error(`it answers with status ${status}`);
}

function toScreenshot(screen: Bitmap): ConsoleScreenshot {
  let bitmap = screen;
  while (Math.max(bitmap.width, bitmap.height) > MAX_SIDE)
    bitmap = halve(bitmap);
  let png = encodePng(bitmap);
  while (png.length > MAX_BYTES) {
    bitmap = halve(bitmap);
    png = encodePng(bitmap);
  }
  const { width, height } = bitmap;
  return { width, height, png: png.toString("base64") };
}
