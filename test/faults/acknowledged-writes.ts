import type { KillableClient } from "./killable-client.js";

/** What the server has acknowledged: ids of users and servers, descriptions of tokens. */
export interface AcknowledgedWrites {
  readonly users: string[];
  readonly tokens: string[];
  readonly servers: string[];
  /** Of the token that was created last. */
  tokenText?: string;
}

/** Tokens and servers for each user: hashing a password takes longer than to store all of them. */
const OTHERS_A_USER = 4;

/**
 * Writes continuously, three at a time, until the server is killed.
 * @param run number of the run, for names
 */
export async function writeUntilKilled(
  client: KillableClient,
  run: number,
  done: AcknowledgedWrites,
): Promise<void> {
  const write = async (which: number) => {
    for (let i = 0; ; i++) {
      const name = `${run}-${which}-${i}`;
      if (i % OTHERS_A_USER === which) {
        const user = await client.request("user.create", {
          email: `u${name}`,
          password: "a password",
        });
        if (user === undefined) return;
        done.users.push(user as string);
      }
      const token = await client.request("token.create", { description: name });
      if (token === undefined) return;
      done.tokens.push(name);
      done.tokenText = token as string;
      const server = await client.request("server.add", {
        label: `s${name}`,
        host: `127.0.${9 + Math.floor(run / 20)}.9:${1 + (run % 20) * 3000 + which * 1000 + (i % 1000)}`,
        username: "root",
        password: "a long secret",
        autoConnect: false,
      });
      if (server === undefined) return;
      done.servers.push(server as string);
    }
  };
  await Promise.all([0, 1, 2].map(write));
}

/** Acknowledged data that the server no longer has. */
export async function findLost(
  client: KillableClient,
  done: AcknowledgedWrites,
): Promise<string[]> {
  const users = idsOf(await client.request("user.getAll"));
  const servers = idsOf(await client.request("server.getAll"));
  // The text of a token is returned once only.
  const tokens = idsOf(
    await client.request("user.getAuthenticationTokens"),
    "description",
  );
  return [
    ...done.users.filter((id) => !users.has(id)).map((id) => `user ${id}`),
    ...done.tokens.filter((id) => !tokens.has(id)).map((id) => `token ${id}`),
    ...done.servers
      .filter((id) => !servers.has(id))
      .map((id) => `server ${id}`),
  ];
}

function idsOf(list: unknown, key = "id"): Set<string> {
  const rows = list as Readonly<Record<string, string>>[];
  return new Set(rows.map((row) => row[key]!));
}
