import type { Logger, MonotonicClock } from "@xo-server/kit";
import {
  datamodel,
  XapiError,
  XoError,
  type DecodePriority,
  type WireEncoding,
} from "@xo-server/model";
import { addressName, type Address } from "../http/address.js";
import { restartAfterSilence } from "./restart-after-silence.js";
import { isNetworkError } from "../rpc/retry-policy.js";
import type { Rpc } from "../rpc/rpc.js";
import type { Secrets } from "../secrets.js";
import type { TransportChoice } from "../rpc/transport-choice.js";
import type { Transport } from "../transports/transport.js";
import type { PoolIdentity } from "../xapi.js";

/** An open session and how to use it. `session` is a secret. */
export interface OpenSession {
  readonly address: Address;
  readonly transport: Transport;
  /** Encoding in which the pool answers on this transport. */
  readonly encoding: WireEncoding;
  readonly session: string;
  readonly pool: PoolIdentity;
}

interface LoginOptions {
  readonly rpc: Rpc;
  readonly choice: TransportChoice;
  readonly secrets: Secrets;
  readonly logger: Logger;
  readonly label: string;
  readonly user: string;
  readonly password: string;
  readonly originator: string;
  readonly timeoutMs: number;
  /** Time limit of `probe`, and of probes during a login, in ms. */
  readonly probeTimeoutMs: number;
  readonly clock: MonotonicClock;
}

/** Opens, probes and closes sessions. */
export class Login {
  readonly #options: LoginOptions;

  constructor(options: LoginOptions) {
    this.#options = options;
  }

  /**
   * Logs in; again if the host was silent meanwhile and answers again.
   * @throws XapiError HOST_IS_SLAVE, SESSION_AUTHENTICATION_FAILED, HOST_STILL_BOOTING, ...; XoError
   */
  open(address: Address, signal: AbortSignal): Promise<OpenSession> {
    const opened = restartAfterSilence({
      attempt: (attempted) => this.#open(address, attempted),
      probe: (probed) => this.#answers(address, probed),
      clock: this.#options.clock,
      signal,
    });
    return this.#scrubErrors(opened);
  }

  /** Checks that the session is valid. @throws XapiError SESSION_INVALID and others, XoError for network errors */
  async probe(open: OpenSession, signal: AbortSignal): Promise<void> {
    const response = this.#getUuid(open, open.session, signal);
    const { answer } = await this.#scrubErrors(response);
    if (answer.outcome === "failure")
      throw toXapiError(answer.error, "session.get_uuid");
  }

  /**
   * Whether the host answers a call at all: SESSION_INVALID at once, without
   * authentication, which can be slow.
   */
  async #answers(address: Address, signal: AbortSignal): Promise<boolean> {
    const [transport] = this.#options.choice.candidates();
    if (transport === undefined) return true;
    const target = { address, transport, encoding: transport.encoding };
    try {
      await this.#getUuid(target, "OpaqueRef:NULL", signal);
      return true;
    } catch (error) {
      const isTimeout =
        error instanceof XoError && error.code === "CALL_TIMEOUT";
      return !isTimeout && !isNetworkError(error);
    }
  }

  #getUuid(
    target: Pick<OpenSession, "address" | "transport" | "encoding">,
    session: string,
    signal: AbortSignal,
  ) {
    const { rpc, probeTimeoutMs: timeoutMs } = this.#options;
    const { address, transport, encoding } = target;
    return rpc.send({
      address,
      transport,
      encoding,
      timeoutMs,
      signal,
      method: "session.get_uuid",
      params: [session, session],
      shape: "value",
      priority: "call",
      isIdempotent: true,
      // An idle connection may be as unresponsive as that of the call for which this is checked.
      isOnNewConnection: true,
    });
  }

  /** Login errors become part of the public state, so secrets are masked here. */
  #scrubErrors<T>(promise: Promise<T>): Promise<T> {
    return promise.catch((error: unknown) => {
      throw this.#options.secrets.scrubError(error);
    });
  }

  async #open(address: Address, signal: AbortSignal): Promise<OpenSession> {
    const { choice, logger, label } = this.#options;
    let failure: unknown;
    for (const transport of choice.candidates()) {
      try {
        const opened = await this.#logIn(address, transport, signal);
        const open = { address, transport, ...opened };
        const pool = await this.#identify(open, signal);
        choice.select(transport, logger, label);
        return { ...open, pool };
      } catch (error) {
        if (!choice.isNextTried(transport, error)) throw error;
        failure = error;
        const reason = error instanceof Error ? error.message : "";
        logger.debug(
          `${label}: no ${transport.name} at ${addressName(address)}: ${reason}`,
        );
      }
    }
    throw failure;
  }

  /** Best effort: a pool that is unreachable needs no logout. */
  async close(
    open: Omit<OpenSession, "pool">,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#call(open, "session.logout", [], signal).catch(
      (error: unknown) => {
        const reason = error instanceof Error ? error.message : "";
        this.#options.logger.debug(
          `${this.#options.label}: logout failed: ${reason}`,
        );
      },
    );
  }

  /** Logs out the session, or finds that it does not exist. @throws XapiError HOST_IS_SLAVE, ...; XoError for network errors */
  async end(
    open: Omit<OpenSession, "pool">,
    signal: AbortSignal,
  ): Promise<void> {
    const loggedOut = this.#call(open, "session.logout", [], signal);
    await this.#scrubErrors(loggedOut).catch((error: unknown) => {
      const isGone =
        error instanceof XapiError && error.code === "SESSION_INVALID";
      if (!isGone) throw error;
    });
  }

  async #logIn(
    address: Address,
    transport: Transport,
    signal: AbortSignal,
  ): Promise<{ session: string; encoding: WireEncoding }> {
    const { user, password, originator, secrets } = this.#options;
    const all = [user, password, datamodel.apiVersion, originator];
    // Pools older than the originator (or the version) count the parameters.
    for (const params of [all, all.slice(0, 3), all.slice(0, 2)]) {
      const { answer } = await this.#send(
        { address, transport, encoding: transport.encoding },
        "session.login_with_password",
        params,
        signal,
      ).catch((error: unknown) => {
        throw withoutStart(error);
      });
      if (answer.outcome === "success") {
        const session = answer.value;
        if (typeof session !== "string" || session === "")
          throw notASession(address);
        secrets.addSession(session);
        return { session, encoding: answer.encoding };
      }
      const error = toXapiError(answer.error, "session.login_with_password");
      if (
        error.code !== "MESSAGE_PARAMETER_COUNT_MISMATCH" ||
        params.length === 2
      )
        throw error;
    }
    throw notASession(address);
  }

  async #identify(
    open: Omit<OpenSession, "pool">,
    signal: AbortSignal,
  ): Promise<PoolIdentity> {
    const pools = await this.#call(open, "pool.get_all_records", [], signal);
    const [ref, record] = Object.entries(pools ?? {})[0] ?? [];
    const uuid = (record as { uuid?: unknown } | undefined)?.uuid;
    if (ref !== undefined && typeof uuid === "string") return { ref, uuid };
    const reason = "pool.get_all_records returned no pool";
    throw new XoError("BAD_ANSWER", {
      address: addressName(open.address),
      reason,
      start: "",
    });
  }

  async #call(
    open: Omit<OpenSession, "pool">,
    method: string,
    params: readonly unknown[],
    signal: AbortSignal,
  ): Promise<unknown> {
    const { answer } = await this.#send(
      open,
      method,
      [open.session, ...params],
      signal,
    );
    if (answer.outcome === "failure") throw toXapiError(answer.error, method);
    return answer.value;
  }

  #send(
    target: Pick<OpenSession, "address" | "transport" | "encoding">,
    method: string,
    params: readonly unknown[],
    signal: AbortSignal,
  ) {
    const { rpc, timeoutMs } = this.#options;
    const { address, transport, encoding } = target;
    const priority: DecodePriority = "call";
    return rpc.send({
      address,
      transport,
      encoding,
      method,
      params,
      priority,
      timeoutMs,
      signal,
      shape: "value",
      isIdempotent: true,
    });
  }
}

/** @param error `ErrorDescription` of an answer: the code, then its parameters */
export function toXapiError(
  error: readonly string[],
  method: string,
): XapiError {
  return new XapiError(error[0] ?? "UNKNOWN", error.slice(1), method);
}

/** The first bytes of an invalid login answer may contain the session reference. */
function withoutStart(error: unknown): unknown {
  return error instanceof XoError && error.code === "BAD_ANSWER"
    ? new XoError("BAD_ANSWER", { ...error.data, start: "(hidden)" })
    : error;
}

function notASession(address: Address): XoError {
  const reason = "the login returned no session";
  return new XoError("BAD_ANSWER", {
    address: addressName(address),
    reason,
    start: "(hidden)",
  });
}
