import { setImmediate } from "node:timers/promises";
import type { ServerFigures } from "./server-figures.js";
import { maskedFrame, RawSocket } from "./raw-socket.js";

/** A server that is measured: xo-server, or the plain server for comparison. */
interface Served {
  readonly url: string;
  /** Token of the user; absent: anonymous. */
  readonly token?: string;
  begin(): Promise<void>;
  end(): Promise<ServerFigures>;
}

interface MessageLoad {
  /** Payload of each message, in bytes. */
  readonly size: number;
  /** Number of messages sent, without responses. */
  readonly messages: number;
  /** Requests without an id: only the last one is answered. */
  readonly isOneWay?: boolean;
}

export interface MessageFigures extends ServerFigures {
  /** Messages, those of both directions together. */
  readonly perSecond: number;
  /** Payload, of both directions together. */
  readonly bytesPerSecond: number;
  /** CPU time per message, in microseconds. */
  readonly serverCpuUs: number;
  readonly clientCpuUs: number;
}

/**
 * Messages in flight at a time, and their bytes: far below the server's send buffer of a client.
 */
const MAX_IN_FLIGHT = 2048;
const MAX_BYTES_IN_FLIGHT = 1024 * 1024;
/** Messages that are written at a time. */
const BURST = 64;

/** Sends calls (or, to a plain server, anything) as fast as they are answered, over one socket. */
export async function exchangeMessages(
  served: Served,
  path: string,
  { size, messages, isOneWay = false }: MessageLoad,
): Promise<MessageFigures> {
  const socket = await RawSocket.open(served.url, path);
  const { counter } = socket;
  if (served.token !== undefined) await signIn(socket, served.token);
  const call = maskedFrame(callOf(size, isOneWay));
  const burst = Buffer.concat(Array.from({ length: BURST }, () => call));
  const window = Math.min(
    MAX_IN_FLIGHT,
    Math.floor(MAX_BYTES_IN_FLIGHT / size),
  );
  const load = { burst, window, isOneWay };
  await send(socket, { ...load, messages: Math.ceil(messages / 5) });
  const [messagesBefore, bytesBefore] = [
    counter.messages,
    counter.payloadBytes,
  ];
  await served.begin();
  const cpuBefore = process.cpuUsage();
  const start = performance.now();
  const sent = await send(socket, { ...load, messages });
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  const figures = await served.end();
  const total = sent + counter.messages - messagesBefore;
  const bytes = sent * size + counter.payloadBytes - bytesBefore;
  socket.close();
  return {
    ...figures,
    perSecond: total / seconds,
    bytesPerSecond: bytes / seconds,
    serverCpuUs: (figures.cpuMs * 1000) / total,
    clientCpuUs: (user + system) / total,
  };
}

async function signIn(socket: RawSocket, token: string): Promise<void> {
  const call = { jsonrpc: "2.0", id: 0, method: "session.signIn" };
  await socket.exchange(JSON.stringify({ ...call, params: { token } }));
}

/** @returns how many were sent, when the last has been answered */
async function send(
  socket: RawSocket,
  {
    burst,
    window,
    messages,
    isOneWay,
  }: { burst: Buffer; window: number; messages: number; isOneWay: boolean },
): Promise<number> {
  const { counter } = socket;
  const before = counter.messages;
  let sent = 0;
  while (sent < messages) {
    if (!isOneWay && sent - (counter.messages - before) > window - BURST)
      await socket.until(before + sent - window / 2);
    const hasRoom = socket.write(burst);
    sent += BURST;
    if (!hasRoom) await socket.drained();
    else if (sent % (8 * BURST) === 0) await setImmediate();
  }
  if (!isOneWay) {
    await socket.until(before + sent);
    return sent;
  }
  // The server handles messages in order: this response follows all others.
  socket.write(maskedFrame(callOf(100, false)));
  await socket.until(before + 1);
  return sent + 1;
}

/**
 * Text of a cheap call of the given length; the id is the padding, so its response is about as
 * long.
 */
function callOf(size: number, isNotification: boolean): string {
  const call = { jsonrpc: "2.0", method: "system.getServerVersion" };
  const text = (padding: string) =>
    JSON.stringify(
      isNotification
        ? { ...call, params: { padding } }
        : { ...call, id: padding },
    );
  return text("x".repeat(Math.max(1, size - text("").length)));
}
