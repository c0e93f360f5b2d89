import { parseLenient } from "@xo-server/model";
import { connect } from "node:net";
import { startPool, type SimulatedPool } from "../src/simulated-pool.js";

/** The moment that stands still in these tests. */
export const NOW = Date.UTC(2026, 10, 21, 12, 0, 3);

/** A pool of its own on a free port, in which waiting takes next to no time, and a session. */
export interface TestServer {
  readonly pool: SimulatedPool;
  readonly session: string;
  readonly port: number;
  readonly call: (method: string, ...params: unknown[]) => Promise<unknown>;
  /** Sends a request as bytes and gives all that comes until the other side closes. */
  readonly exchange: (
    request: string | readonly (string | Buffer)[],
  ) => Promise<Answer>;
  /** GET with the session in the query. */
  readonly get: (path: string, headers?: string) => Promise<Answer>;
}

export interface Answer {
  readonly status: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly head: string;
  readonly body: Buffer;
}

export async function startServer(
  options: Parameters<typeof startPool>[0] = {},
): Promise<TestServer> {
  const pool = await startPool({
    hosts: 2,
    vms: 12,
    seed: 5,
    prepare: [],
    clock: {
      now: () => NOW,
      // Work is quick; limits of ten seconds and more are real ones, which no test reaches.
      setTimeout: (callback, ms) => setTimeout(callback, ms < 10_000 ? 1 : ms),
      clearTimeout: (handle) => clearTimeout(handle as NodeJS.Timeout),
    },
    ...options,
  });
  const port = Number(new URL(pool.url).port);
  const call = async (method: string, ...params: unknown[]) => {
    const response = await fetch(`${pool.url}/jsonrpc`, {
      method: "POST",
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    // NaN and Infinity stand bare in XAPI's JSON.
    const answer = parseLenient(await response.text()) as {
      result?: unknown;
      error?: unknown;
    };
    if (answer.error !== undefined)
      throw new Error(JSON.stringify(answer.error));
    return answer.result;
  };
  const session = (await call(
    "session.login_with_password",
    "root",
    "password",
  )) as string;
  const exchange = (request: string | readonly (string | Buffer)[]) =>
    exchangeBytes(port, request);
  const get = (path: string, headers = "") =>
    exchange(
      `GET ${path}${path.includes("?") ? "&" : "?"}session_id=${session} HTTP/1.1\r\nHost: x\r\n${headers}Connection: close\r\n\r\n`,
    );
  return {
    pool,
    session,
    port,
    call: (method, ...params) => call(method, session, ...params),
    exchange,
    get,
  };
}

function exchangeBytes(
  port: number,
  request: string | readonly (string | Buffer)[],
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, "127.0.0.1", () => {
      for (const part of typeof request === "string" ? [request] : request)
        socket.write(part);
    });
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    socket.on("error", reject);
    socket.on("close", () => resolve(toAnswer(Buffer.concat(chunks))));
  });
}

export function toAnswer(bytes: Buffer): Answer {
  const end = bytes.indexOf("\r\n\r\n");
  const head = bytes.toString("latin1", 0, end);
  const [status = "", ...lines] = head.split("\r\n");
  const headers = lines.map((line) => {
    const colon = line.indexOf(":");
    return [
      line.slice(0, colon).toLowerCase(),
      line.slice(colon + 1).trim(),
    ] as const;
  });
  return {
    status,
    headers: new Map(headers),
    head,
    body: bytes.subarray(end + 4),
  };
}
