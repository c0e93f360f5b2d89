import {
  monotonicClock,
  silentLogger,
  type MonotonicClock,
} from "@xo-server/kit";
import { XapiError, type XoError } from "@xo-server/model";
import type { Decoder } from "./decoder.js";
import {
  addressName,
  addressUrl,
  parseAddress,
  siblingAddress,
  type Address,
} from "./http/address.js";
import { ConnectionPool } from "./http/connection-pool.js";
import { Dialer } from "./http/dialer.js";
import { parseProxy } from "./http/proxy.js";
import {
  readCertificate,
  type PeerCertificate,
} from "./http/peer-certificate.js";
import { toXapiError } from "./session/login.js";
import {
  isTransportDoubtful,
  isTransportUnsupported,
} from "./rpc/retry-policy.js";
import { Rpc } from "./rpc/rpc.js";
import { transports } from "./rpc/transport-choice.js";

export interface ProbeOptions {
  /** As in XapiOptions. */
  readonly decoder: Decoder;
  /** As in XapiOptions. */
  readonly host: string;
  readonly proxy?: string;
  /** Time limit to connect, and of each of at most three calls, in ms. Default 5,000. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly clock?: MonotonicClock;
}

/** Information that a host reveals without authentication. */
export interface HostProbe {
  /** `host:port` */
  readonly address: string;
  /** Absent: unreachable, or plain HTTP. */
  readonly certificate?: PeerCertificate;
  /**
   * Absent: a XAPI that accepts logins. XapiError HOST_STILL_BOOTING, HOST_IS_SLAVE;
   * XoError CONNECTION_*, UNREACHABLE, PROXY_FAILED, CALL_TIMEOUT, and for other programs than XAPI
   * BAD_ANSWER, HTTP_STATUS, ANSWER_TOO_LARGE, UNSUPPORTED.
   */
  readonly error?: XoError | XapiError;
  /** Address of the coordinator if that is another host. */
  readonly coordinator?: string;
}

/** A session reference that is never valid: a call with it has no effect. */
const NO_SESSION = "OpaqueRef:NULL";
/** The expected answer is an error of a few hundred bytes. */
const MAX_ANSWER_BYTES = 65_536;

/**
 * Identifies a host without logging in: no user name and no password are sent,
 * and the certificate is not verified. Of the answer only XAPI's error is
 * returned. A member whose XAPI is starting may look like a coordinator; only a
 * login is conclusive.
 * @throws XoError CONFIG_INVALID: invalid address
 */
export async function probeHost(options: ProbeOptions): Promise<HostProbe> {
  const { clock = monotonicClock, timeoutMs = 5_000 } = options;
  const address = parseAddress(options.host);
  let certificate: PeerCertificate | undefined;
  const dialer = new Dialer({
    verifier: {
      ca: undefined,
      verify(_, shown) {
        certificate = readCertificate(shown);
      },
    },
    proxy: options.proxy === undefined ? undefined : parseProxy(options.proxy),
    connectTimeoutMs: timeoutMs,
    clock,
    logger: silentLogger,
    label: options.host,
  });
  const connections = new ConnectionPool(dialer, clock, 1);
  const rpc = new Rpc(connections, {
    decoder: options.decoder,
    clock,
    maxBodyBytes: MAX_ANSWER_BYTES,
    maxValueBytes: MAX_ANSWER_BYTES,
    lane: "probe",
  });
  try {
    const error = await requestIdentity(
      rpc,
      address,
      timeoutMs,
      options.signal,
    );
    return {
      address: addressName(address),
      ...(certificate === undefined ? {} : { certificate }),
      ...(error === undefined ? {} : { error }),
      ...coordinatorOf(address, error),
    };
  } finally {
    connections.close(new Error("the probe has ended"));
  }
}

/** @returns the error that a login would get; undefined: none */
async function requestIdentity(
  rpc: Rpc,
  address: Address,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<XoError | XapiError | undefined> {
  let unsupported: unknown;
  for (const transport of transports)
    try {
      const { answer } = await rpc.send({
        address,
        transport,
        timeoutMs,
        signal,
        method: "session.get_uuid",
        params: [NO_SESSION, NO_SESSION],
        shape: "value",
        priority: "call",
        isIdempotent: true,
      });
      if (answer.outcome === "success") return undefined;
      const error = toXapiError(answer.error, "session.get_uuid");
      return error.code === "SESSION_INVALID" ? undefined : error;
    } catch (error) {
      if (!isTransportUnsupported(error) && !isTransportDoubtful(error))
        return error as XoError;
      unsupported = error;
    }
  return unsupported as XoError;
}

function coordinatorOf(
  address: Address,
  error: XoError | XapiError | undefined,
): { coordinator?: string } {
  if (!(error instanceof XapiError) || error.code !== "HOST_IS_SLAVE")
    return {};
  const named = siblingAddress(address, error.params[0] ?? "");
  return named === undefined ? {} : { coordinator: addressUrl(named) };
}
