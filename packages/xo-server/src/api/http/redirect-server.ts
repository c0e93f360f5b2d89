import {
  createServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import type { Config } from "../../config/config.js";
import { listen } from "./listen.js";
import { securityHeaders } from "./security-headers.js";

interface RedirectServer {
  readonly port: number;
  stop(): Promise<void>;
}

interface RedirectOptions extends Pick<
  Config["http"],
  "host" | "headersTimeoutMs" | "maxHeaderBytes" | "maxConnections"
> {
  readonly port: number;
  /** Port of the HTTPS server. */
  readonly securePort: number;
}

/**
 * Redirects http to https. Only GET and HEAD are redirected, so that a program that
 * posts a password in clear text gets an error.
 * @throws XoError PORT_IN_USE, CONFIG_INVALID
 */
export async function startRedirectServer(
  options: RedirectOptions,
): Promise<RedirectServer> {
  const { maxHeaderBytes, headersTimeoutMs, securePort } = options;
  const server = createServer(
    {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: headersTimeoutMs,
      requestTimeout: headersTimeoutMs,
      keepAlive: false,
    },
    (request, response) => {
      redirect(request, response, securePort);
    },
  );
  server.maxConnections = options.maxConnections;
  await listen(server, options, "http.tls.redirectPort");
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

function redirect(
  { method, headers, url = "/" }: IncomingMessage,
  response: ServerResponse,
  port: number,
): void {
  const target = toTarget(headers.host, url, port);
  const isRead = method === "GET" || method === "HEAD";
  const common = { ...securityHeaders, connection: "close" };
  if (target === undefined || !isRead) {
    response.writeHead(target === undefined ? 400 : 403, common);
    response.end();
    return;
  }
  response.writeHead(308, { ...common, location: target });
  response.end();
}

/** Undefined: no valid Host header or path. */
function toTarget(
  host: string | undefined,
  url: string,
  port: number,
): string | undefined {
  const base = `http://${host}`;
  if (host === undefined || !url.startsWith("/") || !URL.canParse(base))
    return undefined;
  const target = new URL(base);
  // More than a host name: a crafted header.
  if (target.pathname !== "/" || target.username !== "") return undefined;
  return `https://${target.hostname}${port === 443 ? "" : `:${port}`}${url}`;
}
