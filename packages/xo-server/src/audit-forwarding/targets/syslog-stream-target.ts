import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { XoError } from "@xo-server/model";
import type { LineOptions } from "./audit-line.js";
import { toSyslogMessage } from "./syslog-message.js";
import { readTlsFiles } from "./tls-files.js";
import {
  SEND_TIMEOUT_MS,
  type AuditTarget,
  type TargetConfig,
} from "./target.js";
import { urlHost } from "../../config/url-host.js";

const PORTS: Readonly<Record<string, number>> = { "tcp:": 601, "tls:": 6514 };

/**
 * Syslog over TCP or TLS, with messages preceded by their length (octet counting of
 * RFC 6587 and RFC 5425). Syslog has no acknowledgement, so each attempt uses its
 * own connection and succeeds when the receiver has read everything and closes the
 * connection too.
 */
export function createSyslogStreamTarget(
  url: URL,
  config: TargetConfig,
  options: LineOptions,
): AuditTarget {
  const { protocol } = url;
  // The brackets around an IPv6 address are removed.
  const host = urlHost(url);
  const port = url.port === "" ? PORTS[protocol]! : Number(url.port);
  return {
    address: `${protocol}//${url.hostname}:${port}`,
    async send(records, signal) {
      const frames = records.map((record) => {
        const message = toSyslogMessage(record, options);
        return `${message.length} ${message}`;
      });
      const socket =
        protocol === "tls:"
          ? connectTls({
              host,
              port,
              ...(isIP(host) === 0 ? { servername: host } : {}),
              ...(await readTlsFiles(config)),
            })
          : connect({ host, port });
      await deliver(socket, frames.join(""), {
        address: url.host,
        signal,
      });
    },
  };
}

/** Sends all and waits until the other end has closed. */
function deliver(
  socket: Socket,
  text: string,
  { address, signal }: { readonly address: string; signal: AbortSignal },
): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const stop = () => {
      socket.destroy();
    };
    const timer = setTimeout(() => {
      fail(`not closed by the receiver within ${SEND_TIMEOUT_MS} ms`);
    }, SEND_TIMEOUT_MS);
    const fail = (reason: string) => {
      reject(new XoError("UNREACHABLE", { address, reason }));
      socket.destroy();
    };
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    socket.on("error", ({ message }) => {
      fail(message);
    });
    socket.on("end", () => {
      if (socket.writableFinished) resolve();
      else fail("closed by the receiver before it had read everything");
    });
    socket.on("close", () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      fail("connection closed");
    });
    // Data from a receiver has no meaning in syslog.
    socket.resume();
    socket.end(text);
  });
}
