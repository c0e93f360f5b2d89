import { setTimeout as pause } from "node:timers/promises";
import { ApiClient } from "../api/api-client.js";
import { LiveClients } from "../api/live-clients.js";
import type { Figures } from "../harness/figures.js";
import { ADMIN_PASSWORD, type BenchGroup } from "./server-group.js";

/** Changes of all pools to clients of each server; the first one owns all pools. */
export async function measureChurn(
  group: BenchGroup,
  clients: number,
  forMs: number,
): Promise<Figures> {
  const opened: LiveClients[] = [];
  try {
    for (const server of group.servers) {
      const url = await server.url;
      const share = Math.ceil(clients / group.servers.length);
      const token = await createToken(url);
      opened.push(await LiveClients.open({ url, token, clients: share }));
    }
    await pause(forMs / 4);
    for (const one of opened) await one.delays();
    await pause(forMs);
    const [own, ...others] = await Promise.all(
      opened.map((one) => one.delays()),
    );
    const most = (name: "p50Ms" | "p99Ms") =>
      Math.max(...others.map((delays) => delays[name]));
    return {
      clients,
      changes: own!.changes,
      ownP50Ms: own!.p50Ms,
      ownP99Ms: own!.p99Ms,
      otherP50Ms: most("p50Ms"),
      otherP99Ms: most("p99Ms"),
    };
  } finally {
    for (const one of opened) one.close();
  }
}

async function createToken(url: string): Promise<string> {
  const client = await ApiClient.open(url);
  const user = { username: "admin", password: ADMIN_PASSWORD };
  await client.call("session.signIn", user);
  const token = await client.call("token.create", {});
  client.close();
  return token as string;
}
