import type { Socket } from "node:net";
import { XoError } from "@xo-server/model";
import { readHead } from "./read-head.js";

/** An HTTP proxy that supports CONNECT. `authorization` is a secret. */
export interface ProxyAddress {
  readonly host: string;
  readonly port: number;
  readonly authorization: string | undefined;
}

/** @throws XoError CONFIG_INVALID, without the URL, which may contain a password */
export function parseProxy(text: string): ProxyAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:") {
    const reason = "not an address like http://proxy.example.org:3128";
    throw new XoError("CONFIG_INVALID", { where: "proxy", reason });
  }
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? 80 : Number(url.port),
    authorization:
      credentials === ":"
        ? undefined
        : `Basic ${Buffer.from(credentials).toString("base64")}`,
  };
}

/**
 * Opens a tunnel to `target` (host:port) through the proxy that `socket` is connected to.
 * @throws XoError PROXY_FAILED; the socket is destroyed
 */
export async function openTunnel(
  socket: Socket,
  proxy: ProxyAddress,
  target: string,
): Promise<void> {
  const authorization =
    proxy.authorization === undefined
      ? ""
      : `Proxy-Authorization: ${proxy.authorization}\r\n`;
  const failed = (reason: string) => {
    socket.destroy();
    return new XoError("PROXY_FAILED", {
      proxy: `${proxy.host}:${proxy.port}`,
      reason,
    });
  };
  socket.write(
    `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${authorization}\r\n`,
  );
  const head = await readHead(socket).catch((error: unknown) => {
    throw failed(error instanceof Error ? error.message : String(error));
  });
  if (head.status < 200 || head.status > 299)
    throw failed(`the proxy answered ${head.status} ${head.reason}`);
}
