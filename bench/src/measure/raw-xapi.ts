import { mirroredClasses } from "@xo-server/model";
import type { PoolAddress } from "../harness/simulator.js";

/** One answer's body: how to post a JSON-RPC request to the pool and what to do with the bytes is the row's affair. */
export interface RawPoster {
  /** Posts `body` to /jsonrpc; resolves with the answer's body. */
  text(body: string): Promise<string>;
  /** The same, but only the number of bytes is needed. */
  drain(body: string): Promise<number>;
  close(): void;
}

/** Logs in with the least there is, so that the reference rows do not depend on the client that is measured. */
export async function login(
  poster: RawPoster,
  pool: PoolAddress,
): Promise<string> {
  const answer = JSON.parse(
    await poster.text(
      request("session.login_with_password", [
        pool.user,
        pool.password,
        "2.21",
        "xo-bench",
      ]),
    ),
  ) as { result?: string; error?: { message?: string } };
  if (answer.result === undefined)
    throw new Error(`login failed: ${answer.error?.message ?? "no result"}`);
  return answer.result;
}

/**
 * The largest classes of a pool, started first as in the mirror: else the last one would run alone.
 */
const BIG_FIRST = ["VM", "VBD", "VIF", "VDI", "VM_metrics", "VM_guest_metrics"];

/** The listing of a pool: one request for each class of the mirror. */
export function listingRequests(session: string): string[] {
  const names = new Set([...BIG_FIRST, ...mirroredClasses()]);
  return [...names].map((name) =>
    request(`${name}.get_all_records`, [session]),
  );
}

/** Sends the requests over `connections` at a time; each is handed to `take`. */
export async function sendAll(
  requests: readonly string[],
  connections: number,
  take: (request: string) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < requests.length) await take(requests[next++]!);
  };
  await Promise.all(Array.from({ length: connections }, lane));
}

function request(method: string, params: readonly unknown[]): string {
  return JSON.stringify({ jsonrpc: "2.0", id: 0, method, params });
}
