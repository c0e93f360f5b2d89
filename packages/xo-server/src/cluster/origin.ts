import { createHash } from "node:crypto";
import { hostname } from "node:os";
import { resolve } from "node:path";

/**
 * Identifies an installation, also after a restart: two servers that have the same
 * name by mistake have different origins.
 * @param dataDir differs between two servers on one machine
 */
export function toOrigin(dataDir: string): string {
  return createHash("sha256")
    .update(`${hostname()}\n${resolve(dataDir)}`)
    .digest("base64url");
}
