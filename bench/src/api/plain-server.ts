import { ProbedChild } from "./probed-child.js";

type PlainServer = ProbedChild;

/**
 * The `ws` package alone.
 * @param file sent at `/file`
 */
export function startPlainServer(file = ""): Promise<PlainServer> {
  const program = new URL("programs/plain-server.js", import.meta.url);
  return ProbedChild.start(program, { args: [file] });
}
