import type { PoolState } from "./pool-state.js";

/** Notifies all joined hosts of the new coordinator. @param url of its listener */
export function notifyMembers({ joinedHosts }: PoolState, url: string): void {
  for (const channel of joinedHosts.values())
    channel.send({ coordinator: new URL(url).host });
}

/** The host leaves the pool and restarts as a pool of its own. */
export function ejectHost({ joinedHosts }: PoolState, host: string): void {
  joinedHosts.get(host)?.send({ ejected: true });
  joinedHosts.delete(host);
}
