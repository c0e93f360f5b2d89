import { Command } from "commander";
import { writeServers } from "../config/saved-servers.js";
import { CliError, RequestError, usageError } from "../cli-error.js";
import type { Run } from "../command.js";
import type { Context } from "../context.js";
import { toCell } from "../output/cell.js";
import { toTable } from "../output/table.js";
import { toServerUrl } from "../server/server-url.js";
import { XoError } from "@xo-server/model";

/** `xo-cli servers`: reads the configuration of the user; needs no connection. */
export function serversCommand(run: Run): Command {
  return new Command("servers")
    .description("list registered servers; * is the default")
    .option("--use <url>", "set the default server")
    .action((options: { readonly use?: string }, command) => {
      run(command as Command, async (context) => {
        if (options.use !== undefined) await use(context, options.use);
        await printServers(context);
      });
    });
}

export function unregisterCommand(run: Run): Command {
  return new Command("unregister")
    .description("revoke and delete the token of a server")
    .argument("[url]", "default: the default server")
    .action((url: string | undefined, _options: object, command) => {
      run(command as Command, (context) => unregister(context, url));
    });
}

async function use(context: Context, text: string): Promise<void> {
  const saved = await context.saved();
  const defaultUrl = toServerUrl(text);
  if (!saved.servers.has(defaultUrl)) throw unknown(defaultUrl);
  writeServers(context.configPath, { ...saved, defaultUrl });
}

async function printServers(context: Context): Promise<void> {
  const { terminal } = context;
  const { servers, defaultUrl } = await context.saved();
  const all = [...servers].map(
    ([url, { user, allowUnauthorized, fingerprint }]) => ({
      server: url,
      user: user ?? null,
      default: url === defaultUrl,
      trust:
        new URL(url).protocol === "http:"
          ? "none (plain http)"
          : fingerprint !== undefined
            ? "fingerprint"
            : allowUnauthorized === true
              ? "anything"
              : "authorities",
    }),
  );
  if (terminal.json) await terminal.jsonLine(all);
  else if (all.length === 0)
    await terminal.note("No registered servers; use xo-cli register URL");
  else {
    const heads = ["", "server", "user", "trust"].map((title) => ({ title }));
    const rows = all.map((one) => [
      toCell("", one.default ? "*" : " "),
      ...[one.server, one.user, one.trust].map((value) => toCell("", value)),
    ]);
    await terminal.line(toTable(heads, rows, terminal.columns).join("\n"));
  }
}

async function unregister(
  context: Context,
  text: string | undefined,
): Promise<void> {
  const { terminal } = context;
  const saved = await context.saved();
  const named = text ?? context.options.server;
  const url = named === undefined ? saved.defaultUrl : toServerUrl(named);
  const entry = url === undefined ? undefined : saved.servers.get(url);
  if (url === undefined || entry === undefined) throw unknown(url ?? "none");
  await deleteToken(context, url, entry.token);
  const servers = new Map(saved.servers);
  servers.delete(url);
  const { defaultUrl, ...others } = saved;
  writeServers(context.configPath, {
    ...others,
    ...(defaultUrl === undefined || defaultUrl === url ? {} : { defaultUrl }),
    servers,
  });
  if (terminal.json) await terminal.jsonLine({ server: url });
  else await terminal.line(`unregistered ${url}`);
}

/** The local token is deleted even if the server is unreachable or does not know it. */
async function deleteToken(
  context: Context,
  url: string,
  token: string,
): Promise<void> {
  const trust = (await context.saved()).servers.get(url) ?? {};
  try {
    const rpc = await context.open({ url, token, trust }).signIn();
    await rpc.call("token.deleteOwn", { tokens: [token] });
  } catch (error) {
    if (
      !(error instanceof RequestError) &&
      !(error instanceof CliError) &&
      !(error instanceof XoError)
    )
      throw error;
    await context.terminal.note(
      `warning: the token was not revoked at the server: ${error.message}`,
    );
  }
}

function unknown(url: string): CliError {
  return usageError(`not registered: ${url}`, "see xo-cli servers");
}
