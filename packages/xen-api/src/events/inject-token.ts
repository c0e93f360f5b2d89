import { XapiError, XoError } from "@xo-server/model";
import type { XapiComponents } from "../components.js";

/** A token for the current state; see Xapi.injectToken. */
export async function injectToken(parts: XapiComponents): Promise<string> {
  const { executor, session, origins, settings } = parts;
  const { generation, pool } = await session.ready();
  const common = {
    priority: "call",
    timeoutMs: settings.callTimeoutMs,
  } as const;
  let token: unknown;
  try {
    token = await executor.value({
      ...common,
      method: "event.inject",
      params: ["pool", pool.ref],
    });
  } catch (error) {
    // The method is denied or unknown (old pool). The token of the last change of the pool record is older, so some events arrive twice.
    if (!(error instanceof XapiError)) throw error;
    const { answer } = await executor.request({
      ...common,
      method: "event.from",
      params: [["pool"], "", 0],
      shape: "events",
      isBlocking: true,
    });
    token = answer.token;
  }
  if (typeof token !== "string") {
    const reason = "event.inject returned no token";
    throw new XoError("BAD_ANSWER", {
      address: parts.label,
      reason,
      start: "",
    });
  }
  // If a login happened meanwhile, the earlier generation is the safe choice.
  origins.record(token, generation);
  return token;
}
