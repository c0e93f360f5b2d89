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

/** No answer came in time on an open connection. */
export class NoAnswerError extends ConnectionLostError {
  constructor(method: string) {
    super(`${method}: no answer`);
    this.name = "NoAnswerError";
  }
}
