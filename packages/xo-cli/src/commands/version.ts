import { createRequire } from "node:module";
import { Command } from "commander";
import { CliError } from "../cli-error.js";
import type { Run } from "../command.js";
import type { Context } from "../context.js";
import { toPlainText } from "../output/plain-text.js";

export const version = (
  createRequire(import.meta.url)("@xo-server/xo-cli/package.json") as {
    version: string;
  }
).version;

/** `xo-cli version`: needs no token; without a configured server its own version only. */
export function versionCommand(run: Run): Command {
  return new Command("version")
    .description("versions of xo-cli and of the server")
    .action((_options: object, command) => {
      run(command as Command, printVersions);
    });
}

async function printVersions(context: Context): Promise<void> {
  const { terminal } = context;
  const server = await readServerVersion(context);
  if (terminal.json) {
    await terminal.jsonLine({ xoCli: version, ...server });
    return;
  }
  await terminal.line(`xo-cli ${version}`);
  if (server !== undefined)
    await terminal.line(
      toPlainText(`xo-server ${server.xoServer} at ${server.server}`),
    );
}

/** Works without signing in; undefined: no server configured. */
async function readServerVersion(context: Context) {
  let server;
  try {
    server = await context.server();
  } catch (error) {
    if (error instanceof CliError && error.code === "NOT_SIGNED_IN")
      return undefined;
    throw error;
  }
  const rpc = await server.connect();
  const xoServer = String(await rpc.call("system.getServerVersion"));
  return { xoServer, server: server.target.url };
}
