import { request as plain } from "node:http";
import { request as secure } from "node:https";
import type { Core } from "../calls/core.js";
import { text } from "../records/fields.js";
import { HOST_KEY } from "../rrd/requested-host.js";
import type { Reply } from "./reply.js";
import type { RequestHead } from "./request-head.js";

const relayed = new Set(["rrd_updates", "host_rrd", "vm_rrd"]);

/**
 * A host that has joined another pool measures what runs on it there: the pool
 * that has taken it in knows. Undefined: the host answers itself.
 */
export function relayOf(
  core: Core,
  handler: { readonly name: string },
): string | undefined {
  return relayed.has(handler.name) ? core.pool.following() : undefined;
}

/**
 * Forwards the call to the coordinator, and returns its response unchanged.
 * @param coordinator `host[:port]`
 */
export function relayStatistics(
  core: Core,
  coordinator: string,
  { head, hostRef }: { readonly head: RequestHead; readonly hostRef: string },
): Promise<Reply> {
  const query = new URLSearchParams(head.query);
  query.set(HOST_KEY, text(core.db.get("host", hostRef), "uuid"));
  const { protocol } = new URL(core.pool.urlOf(hostRef));
  const url = `${protocol}//${coordinator}${head.path}?${query.toString()}`;
  const headers = Object.fromEntries(
    ["accept", "authorization", "cookie"].flatMap((name) => {
      const value = head.headers.get(name);
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
  const request = protocol === "https:" ? secure : plain;
  return new Promise((resolve) => {
    const fail = () => {
      resolve({ ...bare, status: 503, body: [] });
    };
    // Pools know each other's addresses, not their certificates.
    const sent = request(
      url,
      { headers, rejectUnauthorized: false },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => chunks.push(chunk));
        answer.on("error", fail);
        answer.on("end", () => {
          const body = Buffer.concat(chunks);
          const headersOf = [
            ["content-type", answer.headers["content-type"] ?? "text/plain"],
            ["content-length", String(body.length)],
          ] as const;
          const status = answer.statusCode ?? 503;
          resolve({ ...bare, status, headers: headersOf, body: [body] });
        });
      },
    );
    sent.on("error", fail);
    sent.end();
  });
}

const bare = { version: "1.1", headers: [], keepAlive: false } as const;
