import { ProbedChild } from "../api/probed-child.js";

export type PlainProxy = ProbedChild;

/**
 * Node's own http in both directions with nothing between.
 * @param source URL that it fetches for its clients
 */
export function startPlainProxy(source: string): Promise<PlainProxy> {
  const program = new URL("programs/plain-proxy.js", import.meta.url);
  return ProbedChild.start(program, { job: { source } });
}
