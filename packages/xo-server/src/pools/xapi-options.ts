import {
  hostName,
  type Decoder,
  type EventRelay,
  type IndirectRoute,
  type TlsPolicy,
  type XapiOptions,
} from "@xo-server/xen-api";
import type { Config } from "../config/config.js";
import type { Logger } from "../log/logger.js";
import { answerLimits } from "../parser/answer-limits.js";
import type { PoolEndpointsFile } from "./pool-endpoints.js";
import type { PoolSettings } from "./pool-settings.js";

interface XapiOptionsSource {
  readonly settings: PoolSettings;
  readonly password: string;
  readonly memory: PoolEndpointsFile;
  readonly config: Config;
  readonly decoder: Decoder;
  /** Undefined: each event comes from XAPI. */
  readonly relay?: EventRelay | undefined;
  /** Undefined: members are reached directly only. */
  readonly route?: IndirectRoute | undefined;
  readonly logger: Logger;
}

/** Options of the XAPI client of a pool. */
export function toXapiOptions(source: XapiOptionsSource): XapiOptions {
  const { settings, password, memory, config, decoder, relay, route, logger } =
    source;
  return {
    ...config.xapi,
    ...(settings.transport && { transport: settings.transport }),
    ...(settings.proxy && { proxy: settings.proxy }),
    hosts: settings.hosts,
    members: memory.endpoints.hosts,
    user: settings.user,
    password,
    readOnly: settings.readOnly,
    tls: toTlsPolicy(settings, memory),
    ...answerLimits(config.parserPool.maxBodyBytes),
    decoder,
    ...(relay && { relay }),
    ...(route && { route }),
    logger,
    onCandidates: (hosts) => {
      memory.update({ hosts });
    },
  };
}

function toTlsPolicy(
  { hosts, tls: { trust, fingerprint } }: PoolSettings,
  memory: PoolEndpointsFile,
): TlsPolicy {
  switch (trust) {
    case "verify":
      return { verify: true };
    case "insecure":
      return { insecure: true };
    case "fingerprint":
      // Guaranteed by the check of the config.
      return { fingerprint: fingerprint! };
    case "first-use":
      return {
        trustOnFirstUse: true,
        known: {
          // Before the first connection, only the accepted certificate is expected;
          // no other is trusted on first use.
          ...(fingerprint && fromHosts(hosts, fingerprint)),
          ...memory.endpoints.fingerprints,
        },
        ...(fingerprint && { accepted: [fingerprint] }),
        onFingerprint: (address, seen) => {
          const known = memory.endpoints.fingerprints;
          memory.update({ fingerprints: { ...known, [address]: seen } });
        },
      };
  }
}

function fromHosts(
  hosts: readonly string[],
  fingerprint: string,
): Record<string, string> {
  return Object.fromEntries(hosts.map((host) => [hostName(host), fingerprint]));
}
