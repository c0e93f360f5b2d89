/** What `server.getAll` tells of a pool that there is to connect to. */
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

/** The code of what waits for somebody, where several members are away for different reasons. */
export function codeOf({ code, data }: ServerError): string {
  return data?.["cause"] ?? code;
}

/** What can be done about a pool that is away, besides waiting. */
export type Remedy = "login" | "certificate" | "address" | "wait";

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

export function remedyFor(code: string): Remedy {
  return Object.hasOwn(remedies, code) ? remedies[code]! : "wait";
}
