import type { Test } from "tap";
import { FakeServer, TOKEN } from "./fake-server.js";
import { runCli, type CliOptions } from "./run-cli.js";

export async function start(t: Test) {
  const server = await FakeServer.start(t);
  const env = { XO_SERVER: server.url, XO_TOKEN: TOKEN };
  const call = (args: readonly string[], options: CliOptions = {}) =>
    runCli(t, ["call", ...args], { env, ...options });
  return { server, env, call };
}
