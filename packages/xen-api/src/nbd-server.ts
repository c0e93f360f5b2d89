import { XoError } from "@xo-server/model";
import type { Socket } from "node:net";
import type { XapiComponents } from "./components.js";
import { awaitSession } from "./session/await-session.js";
import { dialUnencrypted } from "./http/dial.js";
import type { NbdAddress } from "./xapi.js";

/** The server as URL, by which another client of the pool connects to it: `nbd://192.0.2.1:10809/OpaqueRef:...`. */
function toUrl({ address, port, vdi }: NbdAddress): string {
  const host = address.includes(":") ? `[${address}]` : address;
  return `nbd://${host}:${port}/${vdi}`;
}

/** @returns undefined: it is not the URL of an NBD server */
export function parseNbdUrl(url: string): NbdAddress | undefined {
  const [, host = "", port = "", vdi = ""] =
    /^nbd:\/\/(.+):(\d{1,5})\/([^/]+)$/.exec(url) ?? [];
  if (host === "") return undefined;
  return { address: host.replace(/^\[(.+)\]$/, "$1"), port: Number(port), vdi };
}

/** See Xapi.nbdSocket. @throws XoError NOT_CONNECTED, CALL_NOT_SENT, UNREACHABLE */
export async function listenForNbd(
  { sessionWait, dialer }: XapiComponents,
  server: NbdAddress,
): Promise<string | undefined> {
  const { address } = await awaitSession(sessionWait, {
    method: toUrl(server),
  });
  if (dialer.viaOf(address) === undefined) return undefined;
  return dialer.listenTo(toUrl(server), `${server.address}:${server.port}`);
}

/**
 * Connects to an NBD server for another client of the pool. Only to one that XAPI names for the disk, because its address
 * is that of no member: it may be in another network.
 * @throws XoError UNSUPPORTED; those of dial; XapiError
 */
export async function openNbdServer(
  { executor, settings }: XapiComponents,
  { address, port, vdi }: NbdAddress,
  signal: AbortSignal,
): Promise<Socket> {
  const answer = await executor.value({
    method: "VDI.get_nbd_info",
    params: [vdi],
    priority: "call",
    timeoutMs: settings.callTimeoutMs,
    signal,
  });
  const servers = (Array.isArray(answer) ? answer : []) as readonly {
    readonly address?: unknown;
    readonly port?: unknown;
  }[];
  const isOfDisk = servers.some(
    (one) => one.address === address && Number(one.port) === port,
  );
  if (!isOfDisk)
    throw new XoError("UNSUPPORTED", {
      what: "a connection to the NBD server",
      reason: "the pool does not name it for this disk",
    });
  const to = { scheme: "http", host: address, port } as const;
  const options = { ...settings, proxy: undefined };
  return dialUnencrypted(to, options, { signal, allowHalfOpen: true });
}
