import type { WallClock } from "@xo-server/kit";
import type { Duplex } from "node:stream";
import { XoError } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import { isUnknownObject } from "../objects/no-such-object.js";
import { pause } from "../tasks/pause.js";
import type { ConsoleTarget } from "./console-target.js";

interface OpenStreamParts {
  /**
   * Called before each attempt, because the VM may have been migrated.
   * @throws XoError
   */
  readonly find: () => ConsoleTarget;
  readonly xapi: Pick<Xapi, "connectStream">;
  readonly clock: WallClock;
  /** Aborting it ends the stream, or the attempt to open it. */
  readonly signal: AbortSignal;
}

/**
 * Pauses between attempts, in ms. The mirror is up to a second behind the pool, and
 * a migration interrupts the console briefly.
 */
const PAUSES_MS = [500, 1_000, 2_000];

/**
 * Opens the stream of a console on the host that has it. If that fails, for example
 * because the VM has just been started or migrated, the host is looked up again.
 * @throws XoError VM_BAD_POWER_STATE, NO_SUCH_OBJECT, HTTP_STATUS, ABORTED and
 * those of the connection
 */
export async function openStream(parts: OpenStreamParts): Promise<Duplex> {
  for (const pauseMs of PAUSES_MS) {
    try {
      return await tryOnce(parts);
    } catch (error) {
      if (parts.signal.aborted || !isTransient(error)) throw error;
    }
    await pause(parts.clock, pauseMs, parts.signal);
  }
  return tryOnce(parts);
}

/** Tries one host after the other. */
async function tryOnce({
  find,
  xapi,
  signal,
}: OpenStreamParts): Promise<Duplex> {
  const target = find();
  const query = { ref: target.ref };
  for (const host of target.hosts.slice(0, -1))
    try {
      const request = { path: "/console", query, host, signal };
      return await xapi.connectStream(request);
    } catch (error) {
      if (signal.aborted || !isTransient(error)) throw error;
    }
  const host = target.hosts.at(-1);
  return xapi.connectStream({
    path: "/console",
    query,
    signal,
    ...(host === undefined ? {} : { host }),
  });
}

/**
 * Whether another attempt may succeed. XAPI answers 500 for a VM that is not on
 * that host; a host that shuts down does not answer.
 */
function isTransient(error: unknown): boolean {
  if (!(error instanceof XoError)) return false;
  const { code, data } = error;
  if (code === "HTTP_STATUS") return data["status"] === 500;
  return (
    isUnknownObject(error) ||
    code === "CONNECTION_REFUSED" ||
    code === "CONNECTION_LOST" ||
    code === "UNREACHABLE"
  );
}
