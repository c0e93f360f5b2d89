/**
 * An error as XAPI answers it: a code and string parameters. Thrown by handlers,
 * written into the envelope by the endpoints. (The model's XapiError is the error of clients, without secrets.)
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
