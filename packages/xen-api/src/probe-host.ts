import { XapiError, type XoError } from "@xo-server/model";
import { systemClock, type Clock } from "./clock.js";
import type { Decoder } from "./decoder.js";
import {
  addressName,
  addressUrl,
  parseAddress,
  siblingAddress,
  type Address,
} from "./http/address.js";
import { ConnectionPool } from "./http/connection-pool.js";
import { parseProxy } from "./http/proxy.js";
import {
  readCertificate,
  type PeerCertificate,
} from "./http/peer-certificate.js";
import { toXapiError } from "./login.js";
import { isTransportUnsupported } from "./retry-policy.js";
import { Rpc } from "./rpc.js";
import { transports } from "./transport-choice.js";

export interface ProbeOptions {
  /** As in XapiOptions. */
  readonly decoder: Decoder;
  /** As in XapiOptions. */
  readonly host: string;
  readonly proxy?: string;
  /** For the way there and for each of two or three answers. Default 5,000. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
}

/** What a host is, as far as it tells without a password. */
export interface HostProbe {
  /** `host:port` */
  readonly address: string;
  /** Absent: not reached, or asked over plain HTTP. */
  readonly certificate?: PeerCertificate;
  /**
   * Absent: it is a XAPI that may be signed in to. XapiError HOST_STILL_BOOTING, HOST_IS_SLAVE;
   * XoError CONNECTION_*, UNREACHABLE, PROXY_FAILED, CALL_TIMEOUT, and for what is no XAPI
   * BAD_ANSWER, HTTP_STATUS, ANSWER_TOO_LARGE, UNSUPPORTED.
   */
  readonly error?: XoError | XapiError;
  /** Address of the coordinator, where it is another host. */
  readonly coordinator?: string;
}

/** A reference that is nobody's: what it is sent with does nothing. */
const NO_SESSION = "OpaqueRef:NULL";
/** All that it may answer is an error of a few hundred bytes. */
const MAX_ANSWER_BYTES = 65_536;

/**
 * Asks a host who it is without signing in: no user, no password goes there,
 * whatever its certificate is. Nothing of its answer is told but XAPI's error.
 * A member that does not know its pool by heart may pass for a coordinator; a login tells.
 * @throws XoError CONFIG_INVALID: no such address can be
 */
export async function probeHost(options: ProbeOptions): Promise<HostProbe> {
  const { clock = systemClock, timeoutMs = 5_000 } = options;
  const address = parseAddress(options.host);
  let certificate: PeerCertificate | undefined;
  const connections = new ConnectionPool(
    {
      verifier: {
        ca: undefined,
        verify(_, socket) {
          certificate = readCertificate(socket);
        },
      },
      proxy:
        options.proxy === undefined ? undefined : parseProxy(options.proxy),
      connectTimeoutMs: timeoutMs,
      clock,
    },
    1,
  );
  const rpc = new Rpc(connections, {
    decoder: options.decoder,
    clock,
    maxBodyBytes: MAX_ANSWER_BYTES,
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

/** @returns what is in the way of a login */
async function requestIdentity(
  rpc: Rpc,
  address: Address,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<XoError | XapiError | undefined> {
  let unspoken: unknown;
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
      if (!isTransportUnsupported(error)) return error as XoError;
      unspoken = error;
    }
  return unspoken as XoError;
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
