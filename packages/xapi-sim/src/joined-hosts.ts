import type { Database } from "./database.js";

/** The way to a host that has joined. */
export interface HostChannel {
  send(message: Readonly<Record<string, string | boolean>>): void;
}

/** Channels to hosts that have joined from another simulator, by their reference here. */
const byPool = new WeakMap<Database, Map<string, HostChannel>>();

export function joinedHosts(db: Database): Map<string, HostChannel> {
  const hosts = byPool.get(db) ?? new Map<string, HostChannel>();
  byPool.set(db, hosts);
  return hosts;
}

/** All of them learn who is the coordinator now. @param url of its listener */
export function notifyMembers(db: Database, url: string): void {
  for (const channel of joinedHosts(db).values())
    channel.send({ coordinator: new URL(url).host });
}

/** The host leaves the pool and restarts as a pool of its own. */
export function ejectHost(db: Database, host: string): void {
  joinedHosts(db).get(host)?.send({ ejected: true });
  joinedHosts(db).delete(host);
}
