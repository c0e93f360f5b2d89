import { createSocket } from "node:dgram";
import { lookup } from "node:dns/promises";
import { promisify } from "node:util";
import { XoError } from "@xo-server/model";
import type { LineOptions } from "./audit-line.js";
import { toSyslogMessage } from "./syslog-message.js";
import type { AuditTarget } from "./target.js";
import { urlHost } from "../../config/url-host.js";

const PORT = 514;

/**
 * Syslog over UDP (RFC 5426), one message per datagram. UDP has no acknowledgement:
 * lost datagrams are not noticed.
 */
export function createSyslogDatagramTarget(
  url: URL,
  options: LineOptions,
): AuditTarget {
  const host = urlHost(url);
  const port = url.port === "" ? PORT : Number(url.port);
  return {
    address: `udp://${url.hostname}:${port}`,
    async send(records) {
      const { address, family } = await lookup(host);
      const socket = createSocket(family === 6 ? "udp6" : "udp4");
      try {
        const failed = new Promise<never>((_resolve, reject) => {
          socket.once("error", reject);
        });
        // Awaited below, with each message.
        failed.catch(() => undefined);
        const send = promisify(
          (message: string, done: (error: Error | null) => void) => {
            socket.send(message, port, address, done);
          },
        );
        for (const record of records)
          await Promise.race([send(toSyslogMessage(record, options)), failed]);
      } catch (error) {
        throw new XoError("UNREACHABLE", {
          address: url.host,
          reason: (error as Error).message,
        });
      } finally {
        socket.close();
      }
    },
  };
}
