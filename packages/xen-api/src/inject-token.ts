import { XapiError, XoError } from "@xo-server/model";
import type { XapiComponents } from "./components.js";

/** A token of now; see Xapi.injectToken. */
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
    // Not allowed, or too old to know it. The newest change of the pool's row is earlier, which costs some events told twice.
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
    const reason = "event.inject without a token";
    throw new XoError("BAD_ANSWER", {
      address: parts.label,
      reason,
      start: "",
    });
  }
  // Logged in anew meanwhile: the earlier number is the careful one.
  origins.record(token, generation);
  return token;
}
