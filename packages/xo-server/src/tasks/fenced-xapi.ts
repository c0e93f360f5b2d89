import {
  DelegatingXapi,
  type AsyncCallOptions,
  type CallOptions,
  type PutStreamOptions,
  type SendOptions,
  type StreamOptions,
  type Xapi,
} from "@xo-server/xen-api";
import { XoError } from "@xo-server/model";
import type { Readable } from "node:stream";
import type { HeldLease } from "../cluster/held-lease.js";

/**
 * A pool to which commands are only sent while this server has the lease on its tasks. They
 * are neither cancelled with a task nor parts of it, for example those of cleanup.
 *
 * A call never settles when another server has adopted the tasks, because that server
 * continues them: what it has found or created must not be changed from here.
 */
export class FencedXapi extends DelegatingXapi {
  readonly #lease: HeldLease | undefined;
  readonly #isPatient: () => boolean;

  /**
   * @param lease absent: there is only one server
   * @param isPatient see WaitOptions. Default: always, for cleanup.
   */
  constructor(
    xapi: Xapi,
    lease: HeldLease | undefined,
    isPatient: () => boolean = () => true,
  ) {
    super(xapi);
    this.#lease = lease;
    this.#isPatient = isPatient;
  }

  protected get isPatient(): boolean {
    return this.#isPatient();
  }

  override call(
    method: string,
    params?: readonly unknown[],
    options?: CallOptions,
  ) {
    return this.send((sending) =>
      this.xapi.call(method, params, { ...options, ...sending }),
    );
  }

  override callAsync(
    method: string,
    params?: readonly unknown[],
    options?: AsyncCallOptions,
  ): Promise<unknown> {
    return this.send((sending) =>
      this.xapi.callAsync(method, params, { ...options, ...sending }),
    );
  }

  override getStream(options: StreamOptions) {
    const { isPatient } = this;
    return this.#sendStream(() =>
      this.xapi.getStream({ isPatient, ...options }),
    );
  }

  override putStream(body: Readable, options: PutStreamOptions) {
    const { isPatient } = this;
    return this.#sendStream(() =>
      this.xapi.putStream(body, { isPatient, ...options }),
    );
  }

  /**
   * @param send must call `onAnswer` when the command was answered, unless it
   * settles then
   * @param record called before each attempt: the session that the command must use; undefined: any
   */
  protected async send<T>(
    send: (options: SendOptions, onAnswer: () => void) => Promise<T>,
    record: () => Promise<string | undefined> = () =>
      Promise.resolve(undefined),
  ): Promise<T> {
    const lease = this.#lease;
    for (;;) {
      let isOtherSession = false;
      try {
        await lease?.untilValid();
        const session = await record();
        const check = (used: string) => {
          isOtherSession = session !== undefined && session !== used;
          if (isOtherSession) throw new XoError("ABORTED", { what: "sending" });
        };
        const { isPatient } = this;
        const result = await sendCommand(lease, check, (sending, onAnswer) =>
          send({ isPatient, ...sending }, onAnswer),
        );
        if (lease?.isLost !== true) return result;
      } catch (error) {
        if (lease?.isLost === true) return new Promise<never>(() => undefined);
        // The lease expired, or the pool was connected again, before anything was sent.
        const isExpired =
          error instanceof XoError && error.code === "LEASE_LOST";
        if (!isOtherSession && !isExpired) throw error;
      }
    }
  }

  /** Its session is not recorded: a stream that has not begun is not sent again. */
  #sendStream<T>(send: () => Promise<T>): Promise<T> {
    return this.send(({ beforeSend }) => {
      beforeSend?.("");
      return send();
    });
  }
}

/**
 * Sends a command that counts as unanswered until it is answered or fails. A
 * repeated command counts once.
 * @param check throws if the command must not be sent with this session
 */
async function sendCommand<T>(
  lease: HeldLease | undefined,
  check: (session: string) => void,
  send: (options: SendOptions, onAnswer: () => void) => Promise<T>,
): Promise<T> {
  let onAnswer = () => undefined as void;
  const beforeSend = (session: string) => {
    onAnswer();
    check(session);
    if (lease !== undefined) onAnswer = lease.beginCommand();
  };
  try {
    return await send({ beforeSend }, () => {
      onAnswer();
    });
  } finally {
    onAnswer();
  }
}
