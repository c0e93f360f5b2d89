/**
 * THE table of errors that are ours. `message` may name members of the error's
 * data in braces; `http` and `jsonRpc` are what the two doors translate it to.
 * XAPI's own errors are XapiError and pass through with XAPI's codes.
 */
export const errorTable = {
  // The way to a pool
  CONNECTION_REFUSED: row("{address} refused the connection", 502, 9),
  UNREACHABLE: row("{address} cannot be reached: {reason}", 502, 9),
  CONNECTION_LOST: row("the connection to {address} broke off: {reason}", 502),
  CONNECTION_TIMEOUT: row("{address} did not answer within {ms} ms", 504),
  CALL_TIMEOUT: row("{method} did not answer within {ms} ms", 504),
  TLS_UNTRUSTED: row(
    "the certificate of {address} is not trusted ({reason}); its SHA-256 fingerprint is {fingerprint}",
    502,
  ),
  TLS_FINGERPRINT_MISMATCH: row(
    "{address} shows a certificate with SHA-256 fingerprint {fingerprint}, pinned is {pinned}",
    502,
  ),
  PROXY_FAILED: row("the proxy {proxy} did not open a way: {reason}", 502),
  NO_CANDIDATE: row(
    "no member of the pool could be reached: {reasons}",
    502,
    9,
  ),
  NOT_CONNECTED: row("not connected to {pool}", 503, 9),
  // What a pool answers
  BAD_ANSWER: row("{address} sent a bad answer: {reason}; it starts {start}"),
  HTTP_STATUS: row("{address} answered HTTP {status} {text}", 502),
  ANSWER_TOO_LARGE: row(
    "the answer has {bytes} bytes, more than the limit of {limit}",
    502,
  ),
  ANSWER_TOO_DEEP: row(
    "the answer is nested deeper than the limit of {limit} levels",
    502,
  ),
  TASK_LOST: row(
    "the task of {method} vanished before it ended: {reason}",
    502,
  ),
  // What we ask
  REQUEST_TOO_LARGE: row(
    "{method} has a body of {bytes} bytes, XAPI takes at most {limit}",
    413,
  ),
  REQUEST_HEADER_TOO_LARGE: row(
    "the request headers have {bytes} bytes, XAPI takes at most {limit}",
    431,
  ),
  READ_ONLY: row("{method} would change the pool, and it is read-only", 403),
  ABORTED: row("{what} was aborted", 499),
  CLOSED: row("{what} is closed", 503),
  QUEUE_FULL: row("{what} has {size} waiting, no more are taken", 503),
  PARSER_FAILED: row("the parser worker failed: {reason}", 500),
  UNSUPPORTED: row("{what} is not available: {reason}", 501),
  // What a pool refuses, as clients of Xen Orchestra know it
  NO_HOSTS_AVAILABLE: row("no hosts available", 409, 7),
  POOL_REFUSED_LOGIN: row("authentication failed", 502, 8),
  PV_DRIVERS_MISSING: row("missing PV drivers", 409, 11),
  VM_IS_TEMPLATE: row("VM is a template", 409, 12),
  VM_BAD_POWER_STATE: row(
    "VM state is {actual} but should be {expected}",
    409,
    13,
  ),
  VM_LACKS_FEATURE: row("VM lacks feature {feature}", 409, 14),
  POOL_IS_UPGRADING: row("the pool is being upgraded", 409, 15),
  VDI_IN_USE: row("VDI in use", 409, 17),
  HOST_OFFLINE: row("the host is offline", 409, 18),
  FORBIDDEN_OPERATION: row("forbidden operation: {operation}", 403, 5),
  CHECKSUM_MISMATCH: row(
    "what came is not what was sent: its SHA-256 is {actual}, not {expected}",
    422,
  ),
  LEFT_BEHIND: row("{reason}; could not be removed: {left}", 500),
  VMS_CANNOT_LEAVE: row("{count} VMs cannot leave their host: {reasons}", 409),
  NO_HOST_FOR_VM: row("no host may take VM {vm}: {reasons}", 409, 7),
  HOST_AGAINST_RULES: row(
    "host {host} is against rules for VM {vm}: {reasons}",
    409,
  ),
  STOPPED_MIDWAY: row("{what} stopped at {where}: {reason}", 500),
  INTERRUPTED: row("the server stopped meanwhile; {reason}", 500),
  SOME_FAILED: row("{what}: {failed} of {total} failed", 500),
  RESOURCES_EXHAUSTED: row("not enough resources in the set", 409, 24),
  AUDIT_ALTERED: row("audit record {seq} was altered: {reason}", 500, 23),
  OPERATION_BLOCKED: row("operation blocked", 403, 19),
  INCORRECT_STATE: row(
    "incorrect state: {property} of {object} is {actual} but should be {expected}",
    409,
    25,
  ),
  // The program
  CONFIG_INVALID: row("{where}: {reason}", 500),
  PORT_IN_USE: row("{host}:{port} is in use by another program", 500),
  // The store
  ALREADY_EXISTS: row("{type} already exists", 409, 16),
  LIMIT_REACHED: row("no more than {limit} {what} are kept", 409),
  VALUE_TOO_LARGE: row("{what} has {bytes} bytes, the limit is {limit}", 413),
  STORE_UNAVAILABLE: row("the store cannot be reached: {reason}", 503, 28),
  STORE_TOO_NEW: row(
    "the store was written by a newer version of this program: {reason}",
    500,
  ),
  STORE_KEY_WRONG: row(
    "the secrets of the store are encrypted with key {expected}, but {source} holds {found}",
    500,
  ),
  SECRET_DAMAGED: row("the secret {what} cannot be decrypted", 500),
  PASSPHRASE_WRONG: row("the passphrase is wrong, or the file is damaged", 422),
  IMPORT_INVALID: row("this is no exported configuration: {reason}", 422),
  // The doors; -326xx are JSON-RPC 2.0's own codes, the others those that clients of Xen Orchestra know
  PARSE_ERROR: row("the message is not JSON: {reason}", 400, -32700),
  INVALID_REQUEST: row("not a request: {reason}", 400, -32600),
  UNKNOWN_METHOD: row("method not found: {method}", 404, -32601),
  INVALID_PARAMETERS: row("invalid parameters: {reason}", 422, 10),
  INTERNAL: row("internal error: {reason}", 500, -32603),
  TOO_MANY_REQUESTS: row("too many requests: {reason}", 429),
  UNAUTHORIZED: row("not enough permissions: nobody has signed in", 401, 2),
  NO_SESSION: row("nobody has signed in", 401),
  CREDENTIALS_INVALID: row("invalid credentials", 401, 3),
  PROVIDER_UNAVAILABLE: row(
    "{provider} cannot be asked who somebody is: {reason}",
    503,
    28,
  ),
  FORBIDDEN: row("not enough permissions", 403, 2),
  NO_SUCH_OBJECT: row("no such {type} {id}", 404, 1),
  FILTER_INVALID: row(
    "parse error: expected {expected} at position {position}",
    400,
    10,
  ),
} as const;

export type ErrorCode = keyof typeof errorTable;

interface ErrorRow {
  readonly message: string;
  /** Status that the HTTP door gives. */
  readonly http: number;
  /** Code that the JSON-RPC door gives; -32000 is "server error". */
  readonly jsonRpc: number;
}

function row(message: string, http = 502, jsonRpc = -32000): ErrorRow {
  return { message, http, jsonRpc };
}

/** What an error tells besides its code. Never put a secret here: it reaches logs and clients. */
export type ErrorData = Readonly<Record<string, unknown>>;

/** An error of ours: a stable code of errorTable, data, and the cause where there is one. */
export class XoError extends Error {
  readonly code: ErrorCode;
  readonly data: ErrorData;

  constructor(code: ErrorCode, data: ErrorData = {}, cause?: unknown) {
    super(
      fill(errorTable[code].message, data),
      cause === undefined ? {} : { cause },
    );
    this.name = "XoError";
    this.code = code;
    this.data = data;
  }
}

/** An error that a pool answered: XAPI's code and parameters, passed on as they are. */
export class XapiError extends Error {
  /** XAPI's code, such as `HANDLE_INVALID`. */
  readonly code: string;
  readonly params: readonly string[];
  /** The call that failed, such as `VM.start`. */
  readonly method: string | undefined;

  constructor(code: string, params: readonly string[] = [], method?: string) {
    const secret = code.startsWith("SESSION_");
    super(
      params.length === 0 || secret ? code : `${code}(${params.join(", ")})`,
    );
    this.name = "XapiError";
    this.code = code;
    // SESSION_INVALID carries the session reference, which is a password.
    this.params = code === "SESSION_INVALID" ? [] : params;
    this.method = method;
  }
}

function fill(template: string, data: ErrorData): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) =>
    Object.hasOwn(data, name) ? String(data[name]) : "?",
  );
}
