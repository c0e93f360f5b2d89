import { XapiError } from "@xo-server/model";
import type { XapiComponents } from "../components.js";
import { injectToken } from "./inject-token.js";
import type { EventPosition } from "../xapi.js";

/** See Xapi.eventPosition. */
export async function eventPosition(
  parts: XapiComponents,
): Promise<EventPosition> {
  const { session } = parts;
  const { generation } = await session.ready();
  const [token, issuer] = await Promise.all([
    injectToken(parts),
    tokenIssuer(parts),
  ]);
  const isOneSession = (await session.ready()).generation === generation;
  return issuer !== undefined && isOneSession ? { token, issuer } : { token };
}

export function isSameCoordinator(issuer: string, other: string): boolean {
  return issuer.split(" ")[0] === other.split(" ")[0];
}

/**
 * Identifies the process of XAPI that issues tokens now: the coordinator, and the start of its
 * toolstack, which XAPI writes into `host.other_config` at each start (`agent_start_time`, seconds
 * since the epoch).
 * @returns undefined when the pool does not report it
 * @throws XoError, errors of the connection or session
 */
export async function tokenIssuer({
  executor,
  session,
  settings,
}: XapiComponents): Promise<string | undefined> {
  const { pool } = await session.ready();
  const read = (method: string, ref: unknown) =>
    executor.value({
      method,
      params: [ref],
      priority: "event",
      timeoutMs: settings.callTimeoutMs,
    });
  try {
    const coordinator = await read("pool.get_master", pool.ref);
    const config = await read("host.get_other_config", coordinator);
    const { agent_start_time: startedAt } = config as Record<string, unknown>;
    if (typeof startedAt !== "string" || startedAt === "") return undefined;
    return `${String(coordinator)} ${startedAt}`;
  } catch (error) {
    // Without it the pool is listed after a reconnect.
    if (error instanceof XapiError) return undefined;
    throw error;
  }
}
