import http from "node:http";
import https from "node:https";
import type { RawPoster } from "./raw-xapi.js";

/** Posts with node:http(s) over kept-alive connections: the cost of any plain client. */
export function createHttpPoster(base: string, connections: number): RawPoster {
  const url = new URL("/jsonrpc", base);
  const secure = url.protocol === "https:";
  const agent = secure
    ? // A bench of a host with its own certificate: the bytes are what counts.
      new https.Agent({
        keepAlive: true,
        maxSockets: connections,
        rejectUnauthorized: false,
      })
    : new http.Agent({ keepAlive: true, maxSockets: connections });
  const post = (
    body: string,
    onResponse: (response: http.IncomingMessage) => void,
    onError: (error: Error) => void,
  ): void => {
    const { request } = secure ? https : http;
    request(
      url,
      {
        agent,
        method: "POST",
        headers: {
          "content-type": "application/json",
          "content-length": Buffer.byteLength(body),
        },
      },
      onResponse,
    )
      .on("error", onError)
      .end(body);
  };
  return {
    text: (body) =>
      new Promise((resolve, reject) => {
        post(
          body,
          (response) => {
            const chunks: Buffer[] = [];
            response.on("data", (chunk: Buffer) => chunks.push(chunk));
            response.on("end", () => resolve(Buffer.concat(chunks).toString()));
            response.on("error", reject);
          },
          reject,
        );
      }),
    drain: (body) =>
      new Promise((resolve, reject) => {
        post(
          body,
          (response) => {
            let bytes = 0;
            response.on("data", (chunk: Buffer) => {
              bytes += chunk.length;
            });
            response.on("end", () => resolve(bytes));
            response.on("error", reject);
          },
          reject,
        );
      }),
    close: () => agent.destroy(),
  };
}
