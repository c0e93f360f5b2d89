import { Command } from "commander";
import { signedOut } from "../cli-error.js";
import type { Run } from "../command.js";
import type { Context } from "../context.js";
import { toPlainText } from "../output/plain-text.js";

interface User {
  readonly id: string;
  readonly email?: string;
  readonly name?: string;
  readonly permission?: string;
  readonly groups?: readonly string[];
}

/** `xo-cli whoami`. Fails if no token is stored for the server. */
export function whoamiCommand(run: Run): Command {
  return new Command("whoami")
    .description("show the current user and server")
    .action((_options: object, command) => {
      run(command as Command, whoami);
    });
}

async function whoami(context: Context): Promise<void> {
  const server = await context.server();
  const { url, token } = server.target;
  if (token === undefined)
    throw signedOut(`not signed in to ${url}`, `xo-cli register ${url}`);
  const rpc = await server.signIn();
  const user = (await rpc.call("session.getUser")) as User;
  const { id, permission = "none", groups = [] } = user;
  const name = nameOf(user);
  const { terminal } = context;
  if (terminal.json)
    await terminal.jsonLine({ server: url, id, name, permission, groups });
  else
    await terminal.line(
      toPlainText(`${name} (${permission}) on ${url}, user ${id}`),
    );
}

/** The first of e-mail address, name and id that the user has. */
export function nameOf({ id, email, name }: User): string {
  return email ?? name ?? id;
}
