import { request as httpRequest, type IncomingMessage } from "node:http";
import { Socket } from "node:net";
import type { Duplex, Readable } from "node:stream";
import { type MonotonicClock, pause } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import { STREAM_MS } from "./calls/answer-limits.js";
import {
  addressName,
  addressUrl,
  siblingAddress,
  type Address,
} from "./http/address.js";
import type { Dialer } from "./http/dialer.js";
import { networkError } from "./http/network-error.js";
import { readHead } from "./http/read-head.js";
import { requestHead } from "./http/request-head.js";
import type { ResponseHead } from "./http/response-head.js";
import { upload } from "./http/upload.js";
import { awaitSession, type SessionWait } from "./session/await-session.js";
import type {
  PutStreamOptions,
  StreamAnswer,
  StreamOptions,
  StreamTarget,
} from "./xapi.js";

/** XAPI redirects from the coordinator to the host that has the SR attached. */
const MAX_REDIRECTS = 3;
/** XAPI redirects before it reads the body. Wait this long for a redirect, in ms: once sent, the body cannot be sent again. */
const REDIRECT_WAIT_MS = 500;

/** Request to a HTTP handler of XAPI. The session is a cookie: in the query it would appear in logs. */
interface Handler {
  readonly address: Address;
  readonly target: string;
  readonly cookie: string;
}

/** XAPI's HTTP handlers: exports, imports, consoles. */
export class Streams {
  readonly #wait: SessionWait;
  readonly #dialer: Pick<Dialer, "dial" | "listen">;
  readonly #clock: MonotonicClock;
  readonly #isMember: (address: Address) => Promise<boolean>;

  /** @param isMember is this the address of a known host of the pool? */
  constructor(
    wait: SessionWait,
    dialer: Pick<Dialer, "dial" | "listen">,
    isMember: (address: Address) => Promise<boolean>,
  ) {
    this.#wait = wait;
    this.#dialer = dialer;
    this.#clock = wait.clock;
    this.#isMember = isMember;
  }

  /** @throws XoError CALL_TIMEOUT, HTTP_STATUS, ABORTED and those of the connection */
  async get(
    options: StreamOptions,
  ): Promise<StreamAnswer & { readonly body: Readable }> {
    let handler = await this.#handler(options);
    for (let redirects = 0; ; redirects++) {
      const response = await this.#get(handler, options.signal);
      const head = headOf(response);
      if (head.status === 200) return { ...toAnswer(head), body: response };
      response.destroy();
      if (redirects === MAX_REDIRECTS || !isRedirect(head))
        throw httpError(handler, head);
      handler = await this.#followRedirect(handler, head);
    }
  }

  /** @throws XoError HTTP_STATUS, ABORTED and those of the connection; the body's own error */
  async put(body: Readable, options: PutStreamOptions): Promise<StreamAnswer> {
    let handler = await this.#handler(options);
    const { contentLength, signal } = options;
    for (let redirects = 0; ; redirects++) {
      const length =
        contentLength === undefined
          ? {}
          : { "Content-Length": String(contentLength) };
      const socket = await this.#send(
        "PUT",
        handler,
        { Connection: "close", ...length },
        signal,
      );
      const answered = readHead(socket).catch((error: unknown) => {
        throw toStreamError(
          signal,
          options,
          networkError(addressName(handler.address), error),
        );
      });
      // Awaited below; a rejection before that must not be reported as unhandled.
      answered.catch(() => undefined);
      const early = await Promise.race([
        answered,
        pause(this.#clock, REDIRECT_WAIT_MS, signal),
      ]);
      if (
        early !== undefined &&
        isRedirect(early) &&
        redirects < MAX_REDIRECTS
      ) {
        socket.destroy();
        handler = await this.#followRedirect(handler, early);
        continue;
      }
      try {
        if (early !== undefined && early.status >= 300)
          throw httpError(handler, early);
        const head = await upload(body, socket, contentLength, answered);
        if (head === undefined) throw connectionClosed(handler);
        if (head.status >= 300) throw httpError(handler, head);
        return toAnswer(head);
      } catch (error) {
        body.destroy();
        socket.destroy();
        throw toStreamError(signal, options, error);
      }
    }
  }

  /** A bidirectional byte stream after XAPI's 200. @throws XoError CALL_TIMEOUT, HTTP_STATUS and those of the connection */
  async connect(options: StreamOptions): Promise<Duplex> {
    const handler = await this.#handler(options);
    const socket = await this.#send("CONNECT", handler, {}, options.signal);
    const onAnswer = this.#limitAnswer(socket, options.path);
    const head = await readHead(socket).catch((error: unknown) => {
      socket.destroy();
      throw toStreamError(
        options.signal,
        options,
        networkError(addressName(handler.address), error),
      );
    });
    onAnswer();
    if (head.status === 200) return socket;
    socket.destroy();
    throw httpError(handler, head);
  }

  /** @throws XoError those of the connection, TLS_UNTRUSTED, TLS_FINGERPRINT_MISMATCH */
  async target(options: StreamOptions): Promise<StreamTarget> {
    const { address, target, cookie } = await this.#handler(options);
    const url = `${addressUrl(address)}${target}`;
    const headers = { Cookie: cookie };
    if (address.scheme === "http") return { url, headers };
    const { signal } = options;
    const { socket, certificate, via } = await this.#dialer.dial(address, {
      signal,
    });
    socket.destroy();
    return {
      url,
      headers,
      ...(via === undefined
        ? {}
        : { socketPath: await this.#dialer.listen(address) }),
      ...(certificate === undefined
        ? {}
        : { tls: { certificate: certificate.toString() } }),
    };
  }

  async #handler({
    path,
    query = {},
    task,
    host,
    signal,
    isPatient,
  }: StreamOptions): Promise<Handler> {
    const { session, address } = await awaitSession(this.#wait, {
      method: path,
      signal,
      ...(isPatient === undefined ? {} : { isPatient }),
    });
    const member = host === undefined ? address : siblingAddress(address, host);
    if (member === undefined || !path.startsWith("/")) {
      const reason = `no such handler: ${host ?? ""}${path}`;
      throw new XoError("INVALID_PARAMETERS", { reason });
    }
    const search = new URLSearchParams(query);
    if (task !== undefined) search.set("task_id", task);
    const target = search.size === 0 ? path : `${path}?${search.toString()}`;
    return { address: member, target, cookie: `session_id=${session}` };
  }

  /** The same request at the redirect target, with the session; only at a known host of the pool, on the same port. */
  async #followRedirect(
    handler: Handler,
    { headers }: ResponseHead,
  ): Promise<Handler> {
    const location = headers.get("location") ?? "";
    const url = URL.canParse(location) ? new URL(location) : undefined;
    const address =
      url === undefined ? undefined : redirectTarget(url, handler.address);
    if (
      url === undefined ||
      address === undefined ||
      !(await this.#isMember(address))
    )
      throw new XoError("BAD_ANSWER", {
        address: addressName(handler.address),
        reason: "a redirect to an address that is not a host of the pool",
        start: "(hidden)",
      });
    return { ...handler, address, target: url.pathname + url.search };
  }

  async #get(
    handler: Handler,
    signal: AbortSignal | undefined,
  ): Promise<IncomingMessage> {
    const { address, target, cookie } = handler;
    const headers = {
      Host: addressName(address),
      Cookie: cookie,
      Connection: "close",
    };
    // Checks the size before anything is sent: XAPI accepts heads of 1,006 bytes.
    requestHead(address, { method: "GET", target, headers });
    const { socket } = await this.#dialer.dial(address, { signal });
    const onAnswer = this.#limitAnswer(socket, target);
    const more = signal === undefined ? {} : { signal };
    return new Promise((resolve, reject) => {
      let begun: IncomingMessage | undefined;
      httpRequest({
        path: target,
        headers,
        createConnection: () => socket,
        ...more,
      })
        .on("response", (response) => {
          onAnswer();
          begun = response;
          resolve(response);
        })
        .on("error", (error) => {
          const reason = toStreamError(
            signal,
            { path: target },
            networkError(addressName(address), error),
          );
          // Otherwise Node.js ends a body without a length as if it were complete.
          begun?.destroy(reason);
          reject(reason);
        })
        .end();
    });
  }

  /** Closes the connection unless the returned function is called in time: the answer has begun. */
  #limitAnswer(socket: Duplex, target: string): () => void {
    const [method = ""] = target.split("?");
    const timer = this.#clock.setTimeout(() => {
      const ms = STREAM_MS;
      socket.destroy(new XoError("CALL_TIMEOUT", { method, ms }));
    }, STREAM_MS);
    const stop = () => {
      this.#clock.clearTimeout(timer);
    };
    socket.once("close", stop);
    return stop;
  }

  /** Opens a connection and sends the head of a request. The signal closes the connection. */
  async #send(
    method: string,
    { address, target, cookie }: Handler,
    more: Readonly<Record<string, string>>,
    signal: AbortSignal | undefined,
  ): Promise<Duplex> {
    const head = requestHead(address, {
      method,
      target,
      headers: { Cookie: cookie, ...more },
    });
    const { socket } = await this.#dialer.dial(address, {
      signal,
      // An upload may continue after a short interruption, and cannot be repeated.
      mayEnd: () => method !== "PUT",
    });
    // Also for TLS: keystrokes of a console must not wait for the previous acknowledgement.
    if (socket instanceof Socket) socket.setNoDelay(true);
    const onAbort = () => {
      socket.destroy();
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    // Readers and writers see the close; an error without a listener would end the process.
    socket.on("error", () => undefined);
    socket.on("close", () => signal?.removeEventListener("abort", onAbort));
    socket.write(head);
    return socket;
  }
}

function isRedirect({ status, headers }: ResponseHead): boolean {
  return status === 302 && headers.has("location");
}

/**
 * XAPI redirects to a member without a port, and to https even on a plain
 * connection. All members are reached with the same scheme and port.
 */
function redirectTarget(url: URL, known: Address): Address | undefined {
  const isPortKnown = url.port === "" || Number(url.port) === known.port;
  return isPortKnown ? siblingAddress(known, url.hostname) : undefined;
}

function headOf({
  statusCode,
  statusMessage,
  headers,
}: IncomingMessage): ResponseHead {
  const entries = Object.entries(headers).map(
    ([name, value]) => [name, String(value)] as const,
  );
  return {
    version: "1.1",
    status: statusCode ?? 0,
    reason: statusMessage ?? "",
    headers: new Map(entries),
  };
}

function toAnswer({ status, headers }: ResponseHead): StreamAnswer {
  return {
    status,
    headers: Object.fromEntries(headers),
    task: headers.get("task-id"),
  };
}

function httpError(
  { address }: Handler,
  { status, reason }: ResponseHead,
): XoError {
  return new XoError("HTTP_STATUS", {
    address: addressName(address),
    status,
    text: reason,
  });
}

function connectionClosed({ address }: Handler): XoError {
  const reason = "the host closed the connection before the end of the body";
  return new XoError("CONNECTION_LOST", {
    address: addressName(address),
    reason,
  });
}

/** An abort appears as a broken connection: report ABORTED instead. */
function toStreamError(
  signal: AbortSignal | undefined,
  { path }: { path: string },
  error: unknown,
): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  return signal?.aborted === true
    ? new XoError("ABORTED", { what: path.split("?")[0] })
    : error;
}
