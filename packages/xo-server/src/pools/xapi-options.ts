import {
  hostName,
  type Decoder,
  type TlsPolicy,
  type XapiOptions,
} from "@xo-server/xen-api";
import type { Config } from "../config/config.js";
import type { Logger } from "../log/logger.js";
import type { PoolMemory } from "./pool-memory.js";
import type { PoolSettings } from "./pool-settings.js";

export interface XapiOptionsSource {
  readonly settings: PoolSettings;
  readonly password: string;
  readonly memory: PoolMemory;
  readonly config: Config;
  readonly decoder: Decoder;
  readonly logger: Logger;
}

/** What the client of one pool is made with. */
export function toXapiOptions(source: XapiOptionsSource): XapiOptions {
  const { settings, password, memory, config, decoder, logger } = source;
  return {
    ...config.xapi,
    ...(settings.transport && { transport: settings.transport }),
    ...(settings.proxy && { proxy: settings.proxy }),
    // Those of the config first: a person wrote them down.
    hosts: [...new Set([...settings.hosts, ...memory.facts.hosts])],
    user: settings.user,
    password,
    readOnly: settings.readOnly,
    tls: toTlsPolicy(settings, memory),
    maxBodyBytes: config.parserPool.maxBodyBytes,
    decoder,
    logger,
    onCandidates: (hosts) => {
      memory.learn({ hosts });
    },
  };
}

function toTlsPolicy(
  { hosts, tls: { trust, fingerprint } }: PoolSettings,
  memory: PoolMemory,
): TlsPolicy {
  switch (trust) {
    case "verify":
      return { verify: true };
    case "insecure":
      return { insecure: true };
    case "fingerprint":
      // The check of the config saw to it that there is one.
      return { fingerprint: fingerprint! };
    case "first-use":
      return {
        trustOnFirstUse: true,
        known: {
          // Where nothing has been seen yet, what was accepted is what is expected: nothing else is taken on trust.
          ...(fingerprint && fromHosts(hosts, fingerprint)),
          ...memory.facts.fingerprints,
        },
        ...(fingerprint && { accepted: [fingerprint] }),
        onFingerprint: (address, seen) => {
          const known = memory.facts.fingerprints;
          memory.learn({ fingerprints: { ...known, [address]: seen } });
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
