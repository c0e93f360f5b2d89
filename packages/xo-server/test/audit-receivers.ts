import { createSocket } from "node:dgram";
import { createServer as createHttp, type RequestListener } from "node:http";
import { createServer as createHttps } from "node:https";
import {
  createServer,
  type AddressInfo,
  type Server,
  type Socket,
} from "node:net";
import { createServer as createTls } from "node:tls";
import type { Test } from "tap";
import { makeLoopbackCertificate } from "@xo-server/certificate";

export interface Receiver {
  readonly port: number;
  /** What it has received, in order. */
  readonly messages: string[];
}

/** Splits messages preceded by their length, and fails if they are not. */
function toMessages(bytes: Buffer): string[] {
  const messages: string[] = [];
  for (let at = 0; at < bytes.length;) {
    const blank = bytes.indexOf(" ", at);
    const length = Number(bytes.toString("ascii", at, blank));
    if (!(length > 0)) throw new Error(`no length at ${at}`);
    at = blank + 1 + length;
    messages.push(bytes.toString("utf8", blank + 1, at));
  }
  return messages;
}

async function listen(t: Test, server: Server, port = 0): Promise<number> {
  await new Promise<void>((resolve) =>
    server.listen(port, "127.0.0.1", resolve),
  );
  t.teardown(() => server.close());
  return (server.address() as AddressInfo).port;
}

export interface SyslogOptions {
  readonly port?: number;
  /** Ends connections without reading them, as long as it is true. */
  readonly refuses?: () => boolean;
}

/** A syslog receiver for TCP on loopback: reads to the end, then closes. */
export async function startSyslog(
  t: Test,
  { port = 0, refuses }: SyslogOptions = {},
): Promise<Receiver & { stop(): Promise<void> }> {
  const messages: string[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    if (refuses?.() === true) socket.resetAndDestroy();
    else receive(socket, messages);
  });
  return {
    port: await listen(t, server, port),
    messages,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** The same over TLS, with its certificate. */
export async function startTlsSyslog(
  t: Test,
): Promise<Receiver & { readonly cert: string }> {
  const { key, cert } = makeLoopbackCertificate();
  const messages: string[] = [];
  const server = createTls({ key, cert }, (socket) => {
    receive(socket, messages);
  });
  server.on("tlsClientError", () => undefined);
  return { port: await listen(t, server), messages, cert };
}

function receive(socket: Socket, messages: string[]): void {
  const chunks: Buffer[] = [];
  socket.on("error", () => undefined);
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  socket.on("end", () => {
    messages.push(...toMessages(Buffer.concat(chunks)));
    socket.end();
  });
}

/** A syslog receiver for UDP on loopback. */
export async function startUdpSyslog(t: Test): Promise<Receiver> {
  const messages: string[] = [];
  const socket = createSocket("udp4");
  socket.on("message", (message) => messages.push(message.toString()));
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  t.teardown(() => {
    socket.close();
  });
  return { port: socket.address().port, messages };
}

export interface HttpReceiver extends Receiver {
  readonly cert: string;
  readonly headers: Record<string, unknown>[];
  /** Status of its responses. */
  status: number;
}

/** A receiver of JSON lines by POST on loopback, over HTTPS or HTTP. */
export async function startHttpReceiver(
  t: Test,
  isSecure: boolean,
): Promise<HttpReceiver> {
  const { key, cert } = makeLoopbackCertificate();
  const receiver = {
    messages: [] as string[],
    headers: [] as Record<string, unknown>[],
    status: 204,
    cert,
    port: 0,
  };
  const onRequest: RequestListener = (request, response) => {
    let text = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => (text += chunk));
    request.on("end", () => {
      receiver.headers.push(request.headers);
      if (receiver.status < 300)
        receiver.messages.push(...text.trimEnd().split("\n"));
      response.writeHead(receiver.status).end();
    });
  };
  const server = isSecure
    ? createHttps({ key, cert }, onRequest)
    : createHttp(onRequest);
  receiver.port = await listen(t, server);
  return receiver;
}
