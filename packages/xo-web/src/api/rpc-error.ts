/** An error that the server answered: JSON-RPC 2.0's code, and data where there is some. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.name = "RpcError";
    this.code = code;
    this.data = data;
  }
}

/** The connection ended, or no answer came in time. The call may or may not have been executed. */
export class ConnectionLostError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "ConnectionLostError";
  }
}

/** There was no connection: the call was not sent. */
export class NotConnectedError extends ConnectionLostError {
  constructor() {
    super("not connected");
    this.name = "NotConnectedError";
  }
}

/** Whether the server may have executed the call although it did not answer. */
export function mayHaveRun(error: unknown): boolean {
  return (
    error instanceof ConnectionLostError &&
    !(error instanceof NotConnectedError)
  );
}

/** No answer came in time on an open connection. */
export class NoAnswerError extends ConnectionLostError {
  constructor(method: string) {
    super(`${method}: no answer`);
    this.name = "NoAnswerError";
  }
}
