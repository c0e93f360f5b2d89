import { monotonicClock, silentLogger } from "@xo-server/kit";
import { parseAddress, type Address } from "./http/address.js";
import { parseProxy } from "./http/proxy.js";
import { createCertificateVerifier } from "./http/certificate-verifier.js";
import {
  DEFAULT_EVENT_GRACE_MS,
  DEFAULT_EVENT_TIMEOUT_MS,
  DEFAULT_PROBE_TIMEOUT_MS,
  DEFAULT_THROTTLE_MS,
  type XapiOptions,
} from "./options.js";

export type Settings = ReturnType<typeof toSettings>;

/** Validated options with defaults, without user and password. @throws XoError CONFIG_INVALID */
export function toSettings(options: XapiOptions) {
  const proxy =
    options.proxy === undefined ? undefined : parseProxy(options.proxy);
  return {
    hosts: [options.hosts].flat().map(parseAddress),
    members: (options.members ?? []).flatMap(tryParse),
    transport: options.transport ?? "auto",
    verifier: createCertificateVerifier(options.tls ?? { verify: true }),
    proxy,
    readOnly: options.readOnly ?? false,
    originator: options.originator ?? "xo-server",
    maxConcurrentCalls: options.maxConcurrentCalls ?? 8,
    maxQueuedCalls: options.maxQueuedCalls ?? 10_000,
    connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
    callTimeoutMs: options.callTimeoutMs ?? 300_000,
    eventTimeoutMs: options.eventTimeoutMs ?? DEFAULT_EVENT_TIMEOUT_MS,
    eventGraceMs: options.eventGraceMs ?? DEFAULT_EVENT_GRACE_MS,
    probeTimeoutMs: options.probeTimeoutMs ?? DEFAULT_PROBE_TIMEOUT_MS,
    unreachableMs: options.unreachableMs ?? 60_000,
    throttleMs: options.throttleMs ?? DEFAULT_THROTTLE_MS,
    maxValueBytes: options.maxValueBytes ?? 64 * 1024 ** 2,
    maxBodyBytes: options.maxBodyBytes ?? 2 * 1024 ** 3,
    cancelGraceMs: options.cancelGraceMs ?? 30_000,
    backoff: {
      firstMs: options.backoff?.firstMs ?? 500,
      maxMs: options.backoff?.maxMs ?? 10_000,
      authMs: options.backoff?.authMs ?? 300_000,
    },
    relay: options.relay,
    route: options.route,
    clock: options.clock ?? monotonicClock,
    random: options.random ?? Math.random,
    logger: options.logger ?? silentLogger,
  };
}

/** Persisted addresses are not written by an administrator: invalid ones are ignored. */
function tryParse(text: string): Address[] {
  try {
    return [parseAddress(text)];
  } catch {
    return [];
  }
}
