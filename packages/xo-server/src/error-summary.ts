import { XapiError, XoError } from "@xo-server/model";

/** An error as the status shows it: a code of the error table or of XAPI, and a sentence. */
export interface ErrorSummary {
  readonly code: string;
  readonly message: string;
}

export function toErrorSummary(error: unknown): ErrorSummary {
  if (error instanceof XoError || error instanceof XapiError)
    return { code: error.code, message: error.message };
  return {
    code: "INTERNAL",
    message: error instanceof Error ? error.message : String(error),
  };
}
