import { XapiError, XoError, errorTable } from "@xo-server/model";

interface RestError {
  readonly status: number;
  readonly body: {
    readonly error: unknown;
    readonly data?: unknown;
    readonly info?: string;
  };
}

/** Maps errors to the REST responses that clients of Xen Orchestra know. @returns undefined for an unexpected error */
export function toRestError(error: Error): RestError | undefined {
  if (error instanceof XoError) return fromXoError(error);
  if (error instanceof XapiError)
    return {
      status: 500,
      body: {
        error: error.message,
        info: "This is a XenServer/XCP-ng error, not an XO error",
      },
    };
  const { statusCode, message } = error as Error & { statusCode?: unknown };
  // Too large, malformed or incomplete: Fastify has chosen the status.
  return typeof statusCode === "number" && statusCode < 500
    ? { status: statusCode, body: { error: message } }
    : undefined;
}

function fromXoError({ code, message, data }: XoError): RestError {
  const status = errorTable[code].http;
  if (status === 401) return { status, body: toRefusal(data) };
  return { status, body: toBody(code, message, data) };
}

type Body = RestError["body"];
type Data = XoError["data"];

/**
 * Error of a failed sign-in. After a correct password without code, it reports that a
 * code is required, and nothing else.
 */
function toRefusal({ otpRequired }: Data): Body {
  const error = "invalid credentials";
  return otpRequired === true ? { error, data: { otpRequired } } : { error };
}

/** Errors whose body has more than a message. */
const bodies: Readonly<
  Partial<Record<XoError["code"], (message: string, data: Data) => Body>>
> = {
  FORBIDDEN: (message, data) =>
    data["missingPrivileges"] === undefined
      ? { error: message, data }
      : {
          error: "not enough privileges",
          data: { missingPrivileges: data["missingPrivileges"] },
        },
  NO_SUCH_OBJECT: (_message, { type, id }) => ({
    error: `no such ${String(type)} ${String(id)}`,
    data: { id, type },
  }),
  INVALID_PARAMETERS: (message, data) => ({
    error: data["faults"] ?? message,
    data: {},
  }),
  INVALID_REQUEST: (message, { reason }) => ({
    error: reason ?? message,
  }),
  INTERNAL: () => ({ error: "internal error" }),
};

function toBody(code: XoError["code"], message: string, data: Data): Body {
  return bodies[code]?.(message, data) ?? { error: message, data };
}
