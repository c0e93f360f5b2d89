import { XapiError, XoError } from "@xo-server/model";

/** Errors of XAPI whose cause is the uploaded file, not the state of the pool or of the server. */
const OF_FILE: readonly RegExp[] = [
  // XAPI reads no chunked bodies; the server, not the file, chooses how bytes are sent.
  /^IMPORT_ERROR(?!_CANNOT_HANDLE_CHUNKED)/,
  /^IMPORT_INCOMPATIBLE_VERSION$/,
  /^INVALID_(PATCH|PATCH_WITH_LOG|UPDATE)$/,
  /^(PATCH|UPDATE)_PRECHECK_FAILED_/,
  /^(PATCH|UPDATE)_ALREADY_(APPLIED|APPLIED_IN_POOL|EXISTS)$/,
];

/**
 * The response to an upload that the pool has refused because of its content:
 * the client has to send another file. Other errors are returned unchanged.
 * @returns XoError FILE_REFUSED with XAPI's code and parameters in its data
 */
export function toFileRefusal(error: Error): Error {
  if (!(error instanceof XapiError)) return error;
  const { code, params, message } = error;
  if (!OF_FILE.some((pattern) => pattern.test(code))) return error;
  const data = { code, params, reason: message };
  return new XoError("FILE_REFUSED", data, error);
}
