/**
 * An error as XAPI answers it: a code and string parameters. Thrown by handlers,
 * written into the envelope by the endpoints. (Not the model's XapiError, which
 * belongs to clients and hides what must not reach a log.)
 */
export class XapiFailure extends Error {
  readonly code: string;
  readonly params: readonly string[];

  constructor(code: string, params: readonly string[] = []) {
    super([code, ...params].join(" "));
    this.name = "XapiFailure";
    this.code = code;
    this.params = params;
  }
}

/** XAPI's error for an uncaught OCaml exception. `text` is the exception in OCaml's notation. */
export function internalError(text: string): XapiFailure {
  return new XapiFailure("INTERNAL_ERROR", [text]);
}
