import { createHash } from "node:crypto";

/**
 * The server that follows the pool at XAPI, and passes its events on: rendezvous hashing, so that
 * a server that joins or ends changes only the pools that it gets or had. Nothing depends on
 * all servers having the same result.
 * @param servers names of the servers, not empty
 */
export function senderOf(poolId: string, servers: readonly string[]): string {
  return servers.toSorted((a, b) =>
    Buffer.compare(weight(poolId, b), weight(poolId, a)),
  )[0]!;
}

function weight(poolId: string, server: string): Buffer {
  return createHash("sha256")
    .update(JSON.stringify([poolId, server]))
    .digest();
}
