import { hostname } from "node:os";
import { createFileTarget } from "./file-target.js";
import { createHttpTarget } from "./http-target.js";
import { createSyslogDatagramTarget } from "./syslog-datagram-target.js";
import { createSyslogStreamTarget } from "./syslog-stream-target.js";
import type { AuditTarget, TargetConfig } from "./target.js";

/** @param config whose URL has been checked by checkAudit */
export function createTarget(config: TargetConfig): AuditTarget {
  const url = new URL(config.url);
  const options = { host: hostname(), maxBytes: config.maxEntryBytes };
  switch (url.protocol) {
    case "file:":
      return createFileTarget(url, options);
    case "udp:":
      return createSyslogDatagramTarget(url, options);
    case "tcp:":
    case "tls:":
      return createSyslogStreamTarget(url, config, options);
    default:
      return createHttpTarget(url, config, options);
  }
}
