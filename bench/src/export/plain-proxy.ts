import { ProbedChild } from "../api/probed-child.js";

export type PlainProxy = ProbedChild;

/**
 * A proxy of node:http alone, without our code, for comparison.
 * @param source URL that it fetches for its clients
 */
export function startPlainProxy(source: string): Promise<PlainProxy> {
  const program = new URL("programs/plain-proxy.js", import.meta.url);
  return ProbedChild.start(program, { job: { source } });
}
