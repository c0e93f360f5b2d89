/** A server (pool connection) as `server.getAll` returns it. */
export interface ServerRow {
  readonly id: string;
  readonly host: string;
  readonly label: string;
  readonly username?: string;
  readonly enabled: boolean;
  readonly status: "connected" | "connecting" | "disconnected";
  readonly error?: ServerError;
  readonly readOnly: boolean;
  readonly allowUnauthorized: boolean;
  readonly fingerprint?: string;
  readonly origin: "api" | "config" | "demo";
  readonly poolId?: string;
  readonly poolNameLabel?: string;
  readonly version?: string;
}

export interface ServerError {
  readonly code: string;
  readonly message: string;
  readonly data?: Readonly<Record<string, string>>;
}

/** The error code; of several unreachable members, the one that needs an administrator. */
export function codeOf({ code, data }: ServerError): string {
  return data?.["cause"] ?? code;
}

/** How an administrator can repair a lost connection; `wait`: nothing to do. */
type Remedy = "login" | "certificate" | "address" | "wait";

const remedies: Readonly<Record<string, Remedy>> = {
  SESSION_AUTHENTICATION_FAILED: "login",
  RBAC_PERMISSION_DENIED: "login",
  USER_IS_NOT_LOCAL_SUPERUSER: "login",
  TLS_UNTRUSTED: "certificate",
  TLS_FINGERPRINT_MISMATCH: "certificate",
  UNREACHABLE: "address",
  CONNECTION_REFUSED: "address",
  HTTP_STATUS: "address",
  BAD_ANSWER: "address",
};

/** What the user can do about a connection error; `wait`: the server retries. */
export function remedyFor(code: string): Remedy {
  return Object.hasOwn(remedies, code) ? remedies[code]! : "wait";
}
