import type { Logger } from "@xo-server/kit";
import { XapiError } from "@xo-server/model";
import type { TransportName } from "../options.js";
import { isTransportDoubtful, isTransportUnsupported } from "./retry-policy.js";
import { jsonInXmlTransport } from "../transports/json-in-xml.js";
import { jsonRpcTransport } from "../transports/json-rpc.js";
import type { Transport } from "../transports/transport.js";
import { xmlRpcTransport } from "../transports/xml-rpc.js";

/** All transports, best first. */
export const transports: readonly Transport[] = [
  jsonRpcTransport,
  jsonInXmlTransport,
  xmlRpcTransport,
];

/** Logins in a row that must fail without proof until the next transport is tried. */
const MAX_DOUBTS = 3;

/** Decides which transports a login tries. The best one is tried at each login: the pool may have been upgraded. */
export class TransportChoice {
  readonly #configured: "auto" | TransportName;
  /** Transports that a session was opened on. */
  readonly #supported = new Set<Transport>();
  /** Failures in a row that did not prove that the transport is not supported. */
  readonly #doubts = new Map<Transport, number>();
  #selected: Transport | undefined;

  constructor(configured: "auto" | TransportName) {
    this.#configured = configured;
  }

  /** Transports to try, best first. */
  candidates(): readonly Transport[] {
    return this.#configured === "auto"
      ? transports
      : transports.filter(({ name }) => name === this.#configured);
  }

  /**
   * Whether to try the next transport after a failed login. False: the login failed
   * independently of the transport.
   */
  isNextTried(transport: Transport, error: unknown): boolean {
    if (isTransportUnsupported(error)) return true;
    // The session was misinterpreted on a fallback transport; on the preferred one
    // it has ended in the meantime.
    if (!isTransportDoubtful(error))
      return transport !== transports[0] && isRefusedSession(error);
    if (this.#supported.has(transport)) return false;
    const doubts = (this.#doubts.get(transport) ?? 0) + 1;
    this.#doubts.set(transport, doubts);
    return doubts >= MAX_DOUBTS;
  }

  /** A session was opened on this transport. */
  select(transport: Transport, logger: Logger, label: string): void {
    this.#supported.add(transport);
    this.#doubts.delete(transport);
    if (this.#selected === transport) return;
    this.#selected = transport;
    if (this.#configured === "auto" && transport !== transports[0])
      logger.warn(
        `${label}: the pool does not support ${transports[0]!.name}, falling back to ${transport.name}`,
      );
  }
}

/** XAPI refuses a session that it has just opened: the session was misread. */
function isRefusedSession(error: unknown): boolean {
  return error instanceof XapiError && error.code === "SESSION_INVALID";
}
