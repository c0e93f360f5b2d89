import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { Command } from "commander";
import { writeServers, type SavedServer } from "../config/saved-servers.js";
import { RequestError, usageError } from "../cli-error.js";
import type { Run } from "../command.js";
import type { Context } from "../context.js";
import { variable } from "../host.js";
import { toPlainText } from "../output/plain-text.js";
import { prompt, promptSecret } from "../prompt.js";
import type { Rpc } from "../server/rpc.js";
import { toServerUrl } from "../server/server-url.js";
import { nameOf } from "./whoami.js";

interface RegisterOptions {
  readonly token?: string;
  readonly otp?: string;
  readonly expiresIn?: string;
}

interface Arguments extends RegisterOptions {
  readonly url: string;
  readonly user: string | undefined;
  readonly password: string | undefined;
}

type User = Parameters<typeof nameOf>[0];

/** `xo-cli register`: stores a token in the configuration of the user, never the password. */
export function registerCommand(run: Run): Command {
  return new Command("register")
    .description(
      "sign in to a server and save the token; makes it the default server",
    )
    .argument("<url>", "such as https://xo.example.org")
    .argument("[user]", "prompted for if omitted")
    .argument(
      "[password]",
      "default: $XO_PASSWORD, a prompt, or the first line of stdin (all more secure)",
    )
    .option(
      "--token <token>",
      "token instead of a password (better: $XO_TOKEN)",
    )
    .option("--otp <code>", "two-factor code")
    .option(
      "--expires-in <duration>",
      "lifetime of the token, such as '1 hour' or '30 days'",
    )
    .action(
      (...all: [string, string?, string?, RegisterOptions?, Command?]) => {
        const [url, user, password, options, command] = all;
        run(command!, (context) =>
          register(context, { url, user, password, ...options }),
        );
      },
    );
}

async function register(context: Context, input: Arguments): Promise<void> {
  const { terminal, trust } = context;
  const url = toServerUrl(input.url);
  const saved = await context.saved();
  const clientId = saved.clientId ?? randomUUID();
  const rpc = await context.open({ url, token: undefined, trust }).connect();
  const { user, token } = await signIn(context, rpc, { ...input, clientId });
  const entry: SavedServer = { token, user: nameOf(user), ...trust };
  writeServers(context.configPath, {
    clientId,
    defaultUrl: url,
    servers: new Map([...saved.servers, [url, entry]]),
  });
  if (terminal.json)
    await terminal.jsonLine({ server: url, id: user.id, name: nameOf(user) });
  else
    await terminal.line(toPlainText(`signed in to ${url} as ${nameOf(user)}`));
}

async function signIn(
  context: Context,
  rpc: Rpc,
  input: Arguments & { clientId: string },
): Promise<{ user: User; token: string }> {
  const { host } = context;
  const ready =
    input.token ??
    (input.user === undefined ? variable(host, "XO_TOKEN") : undefined);
  if (ready !== undefined) {
    const user = (await rpc.call("session.signIn", { token: ready })) as User;
    return { user, token: ready };
  }
  const email = input.user ?? (await prompt(host, "User"));
  if (input.password !== undefined)
    await context.terminal.note(
      "note: a password on the command line is visible to other users of this machine; omit it to be prompted",
    );
  const password =
    input.password ??
    variable(host, "XO_PASSWORD") ??
    (await promptSecret(host, "Password"));
  if (email === "" || password === "")
    throw usageError(
      `no ${email === "" ? "user" : "password"}`,
      "enter it on a terminal, or set $XO_PASSWORD, or use stdin",
    );
  const { otp } = input;
  const user = (await rpc.call("session.signIn", {
    email,
    password,
    ...(otp === undefined ? {} : { otp }),
  })) as User;
  return { user, token: await createToken(rpc, input) };
}

/** Older servers reject client and description. */
async function createToken(
  rpc: Rpc,
  { clientId, expiresIn }: { clientId: string; expiresIn?: string },
): Promise<string> {
  const duration =
    expiresIn === undefined
      ? {}
      : { expiresIn: /^\d+$/.test(expiresIn) ? Number(expiresIn) : expiresIn };
  const description = `xo-cli on ${hostname()}`;
  try {
    const more = { client: { id: clientId }, description };
    return (await rpc.call("token.create", { ...more, ...duration })) as string;
  } catch (error) {
    if (!(error instanceof RequestError) || error.code !== "INVALID_PARAMETERS")
      throw error;
    return (await rpc.call("token.create", duration)) as string;
  }
}
