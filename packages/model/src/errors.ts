/**
 * All error codes of the server. `message` may contain names of the error's data in
 * braces; `http` is the status of REST responses, `jsonRpc` the code of JSON-RPC
 * responses. XAPI's own errors are XapiError, with XAPI's codes.
 */
export const errorTable = {
  // Connections to pools
  CONNECTION_REFUSED: row("{address} refused the connection", 502, 9),
  UNREACHABLE: row("{address} is unreachable: {reason}", 502, 9),
  CONNECTION_LOST: row("connection to {address} lost: {reason}", 502),
  CONNECTION_TIMEOUT: row("no response from {address} within {ms} ms", 504),
  EVENTS_SILENT: row("no events from {pool} for {seconds} s: {reason}", 504),
  CALL_TIMEOUT: row("no response to {method} within {ms} ms", 504),
  CALL_NOT_SENT: row(
    "{method} was not sent: no connection to {pool} within {ms} ms: {reason}",
    503,
    9,
  ),
  TLS_UNTRUSTED: row(
    "the certificate of {address} is not trusted ({reason}); its SHA-256 fingerprint is {fingerprint}",
    502,
  ),
  TLS_FINGERPRINT_MISMATCH: row(
    "the certificate of {address} has the SHA-256 fingerprint {fingerprint}, expected {pinned}",
    502,
  ),
  PROXY_FAILED: row("proxy {proxy} failed to connect: {reason}", 502),
  NO_CANDIDATE: row("no host of the pool is reachable: {reasons}", 502, 9),
  NOT_CONNECTED: row(
    "not connected to {pool}: retry in a few seconds if this server has just started, else connect the pool (Settings, Servers)",
    503,
    9,
  ),
  // Responses of pools
  BAD_ANSWER: row(
    "{address} sent an invalid response: {reason}; it starts with {start}",
  ),
  HTTP_STATUS: row("{address} responded with HTTP {status} {text}", 502),
  ANSWER_TOO_LARGE: row(
    "the response has {bytes} bytes, the limit is {limit}",
    502,
  ),
  ANSWER_TOO_DEEP: row(
    "the response is nested deeper than the limit of {limit} levels",
    502,
  ),
  TASK_LOST: row(
    "the XAPI task of {method} disappeared before it ended: {reason}",
    502,
  ),
  // Calls to pools
  RESULT_UNKNOWN: row(
    "the response to {method} was lost ({reason}), so that its result is unknown: it may have been executed",
    504,
  ),
  REQUEST_TOO_LARGE: row(
    "the request body of {method} has {bytes} bytes, the limit of XAPI is {limit}",
    413,
  ),
  REQUEST_HEADER_TOO_LARGE: row(
    "the request headers have {bytes} bytes, the limit of XAPI is {limit}",
    431,
  ),
  READ_ONLY: row(
    "{method} would change the pool, which is connected read-only",
    403,
  ),
  ABORTED: row("{what} was aborted", 499),
  CLOSED: row("{what} is closed", 503),
  QUEUE_FULL: row("{what}: queue full ({size} waiting)", 503),
  PARSER_FAILED: row("the parser worker failed: {reason}", 500),
  UNSUPPORTED: row("{what} is not available: {reason}", 501),
  // Errors that clients of Xen Orchestra know
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
  VM_NOT_HALTED: row(
    "VM state is {actual} but should be {expected}: {reason}",
    409,
    13,
  ),
  VDI_IN_USE: row(
    "VDI in use ({operation}): shut down the VM that uses it, or detach the disk from it",
    409,
    17,
  ),
  HOST_OFFLINE: row("the host is offline", 409, 18),
  FORBIDDEN_OPERATION: row("forbidden operation: {operation}", 403, 5),
  CHECKSUM_MISMATCH: row(
    "checksum mismatch: SHA-256 is {actual}, expected {expected}",
    422,
  ),
  LEFT_BEHIND: row("{reason}; not cleaned up: {left}", 500),
  TRACKED_SNAPSHOT: row(
    "pools do not move disks with snapshot {snapshot}, which has changed block tracking; {reason}",
    409,
  ),
  VMS_CANNOT_LEAVE: row("{count} VMs cannot be evacuated: {reasons}", 409),
  NO_HOST_FOR_VM: row("no host can run VM {vm}: {reasons}", 409, 7),
  HOST_AGAINST_RULES: row(
    "host {host} violates rules for VM {vm}: {reasons}",
    409,
  ),
  STOPPED_MIDWAY: row("{what} stopped at {where}: {reason}", 500),
  INTERRUPTED: row("interrupted by a stop of the server; {reason}", 500),
  SOME_FAILED: row("{what}: {failed} of {total} failed: {reasons}", 500),
  RESOURCES_EXHAUSTED: row(
    "not enough resources in the set: {requested} {resourceType} requested, {available} left",
    409,
    24,
  ),
  AUDIT_ALTERED: row("audit record {seq} was altered: {reason}", 500, 23),
  OPERATION_BLOCKED: row("operation blocked", 403, 19),
  INCORRECT_STATE: row(
    "incorrect state: {property} of {object} is {actual} but should be {expected}",
    409,
    25,
  ),
  // The process
  CONFIG_INVALID: row("{where}: {reason}", 500),
  PORT_IN_USE: row("{host}:{port} is in use by another program", 500),
  // The database
  ALREADY_EXISTS: row("{type} already exists", 409, 16),
  LIMIT_REACHED: row("limit of {limit} {what} reached", 409),
  VALUE_TOO_LARGE: row("{what} has {bytes} bytes, the limit is {limit}", 413),
  STORE_UNAVAILABLE: row("the database is unavailable: {reason}", 503, 28),
  LEASE_LOST: row(
    "another server has taken over {subject}: nothing was changed here",
    503,
  ),
  TASK_TAKEN_OVER: row(
    "another server has taken over this request: task {id} shows what was done",
    503,
  ),
  STORE_MISSING: row("{where} {reason}: {remedy}", 500),
  STORE_OUTDATED: row(
    "{where} lacks the latest changes ({reason}): {remedy}",
    500,
  ),
  STORE_TOO_NEW: row(
    "the database was written by a newer version of xo-server: {reason}; {remedy}",
    500,
  ),
  STORE_IN_USE: row(
    "the migration {migration} changes tables that running servers of an older version use: {servers}; stop them, then start this one",
    500,
  ),
  STORE_KEY_WRONG: row(
    "the secrets in the database are encrypted with key {expected}, but {source} contains key {found}",
    500,
  ),
  SECRET_DAMAGED: row("the secret {what} cannot be decrypted", 500),
  PASSPHRASE_WRONG: row("wrong passphrase, or the file is damaged", 422),
  LAST_ADMIN: row(
    'user "{name}" is the last one with the permission admin who can sign in: grant it to another user first',
    409,
    10,
  ),
  IMPORT_INVALID: row("not an exported configuration: {reason}", 422),
  FILE_REFUSED: row("the pool refused the file: {reason}", 422),
  // Backups
  BACKUP_REPOSITORY_UNREACHABLE: row(
    "backup repository {repository} is unreachable: {reason}",
    502,
  ),
  BACKUP_REPOSITORY_READ_ONLY: row(
    "backup repository {repository} is read-only: {reason}",
    409,
  ),
  BACKUP_REPOSITORY_FULL: row(
    "backup repository {repository} is full: {reason}; delete backups and collect garbage a day later, or enlarge the file system",
    507,
  ),
  BACKUP_REPOSITORY_KEY_WRONG: row(
    "backup repository {repository} cannot be opened: {reason}",
    422,
  ),
  BACKUP_REPOSITORY_OLDER: row(
    "backup repository {repository} is older than it was: {reason}",
    409,
  ),
  BACKUP_REPOSITORY_DAMAGED: row(
    "backup repository {repository} is damaged: {reason}",
    500,
  ),
  BACKUP_REPOSITORY_REFUSED: row(
    "backup repository {repository}: {reason}",
    422,
  ),
  BACKUP_REPOSITORY_CHANGED: row(
    "backup repository {repository} was changed in the meantime: {reason}",
    409,
  ),
  BACKUP_REPOSITORY_DISABLED: row(
    "backup repository {repository} is disabled",
    409,
  ),
  BACKUP_TRANSFER_FAILED: row(
    "the transfer between pool and backup repository failed: {reason}",
    502,
  ),
  DISK_CONVERSION_FAILED: row("the disk could not be converted: {reason}", 502),
  IMPORT_SOURCE_FAILED: row("the source of the import failed: {reason}", 502),
  BACKUP_REFUSED: row("VM {vm} cannot be backed up: {reason}", 409),
  FILE_SYSTEM_UNSUPPORTED: row("the file system cannot be read: {reason}", 422),
  FILE_SYSTEM_DAMAGED: row("the file system is damaged: {reason}", 422),
  NO_SUCH_FILE: row("no such file: {reason}", 404),
  TOO_MANY_FILES: row("too many files: {reason}", 422),
  BACKUP_WORKER_FAILED: row("the backup worker failed: {reason}", 500),
  // The API; -326xx are codes of JSON-RPC 2.0, the others codes of Xen Orchestra
  PARSE_ERROR: row("the message is not JSON: {reason}", 400, -32700),
  INVALID_REQUEST: row("invalid request: {reason}", 400, -32600),
  UNKNOWN_METHOD: row("method not found: {method}", 404, -32601),
  INVALID_PARAMETERS: row("invalid parameters: {reason}", 422, 10),
  INTERNAL: row("internal error: {reason}", 500, -32603),
  TOO_MANY_REQUESTS: row("too many requests: {reason}", 429),
  UNAUTHORIZED: row("not enough permissions: authentication required", 401, 2),
  NO_SESSION: row("authentication required", 401),
  CREDENTIALS_INVALID: row("invalid credentials", 401, 3),
  SIGN_IN_THROTTLED: row(
    "too many failed sign-in attempts: credentials were not checked, try again in {seconds} s",
    429,
  ),
  PROVIDER_UNAVAILABLE: row(
    "identity provider {provider} is unavailable: {reason}",
    503,
    28,
  ),
  SECOND_FACTOR_REQUIRED: row("a second factor is required: {advice}", 403, 2),
  FORBIDDEN: row("not enough permissions", 403, 2),
  NO_VM_MATCHES: row("no VM matches the selection of the job", 409),
  NO_SUCH_OBJECT: row("no such {type} {id}", 404, 1),
  OBJECTS_LOADING: row(
    "no {type} {id} is known, but it may be in a pool that has not been loaded since the start of the server; repeat the request later",
    503,
  ),
  OBJECT_NOT_LOADED: row(
    "no object {id} is known, but the objects of these pools are not loaded: {pools}; connect them and repeat",
    503,
    1,
  ),
  FILTER_INVALID: row(
    "parse error: expected {expected} at position {position}",
    400,
    10,
  ),
} as const;

export type ErrorCode = keyof typeof errorTable;

interface ErrorRow {
  readonly message: string;
  /** Status of REST responses. */
  readonly http: number;
  /** Code of JSON-RPC responses; -32000 is "server error". */
  readonly jsonRpc: number;
}

function row(message: string, http = 502, jsonRpc = -32000): ErrorRow {
  return { message, http, jsonRpc };
}

/** Details of an error. Must not contain secrets: it is logged and sent to clients. */
export type ErrorData = Readonly<Record<string, unknown>>;

/** An error with a stable code of errorTable, details and an optional cause. */
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

/** An error response of XAPI, with its code and parameters. */
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
