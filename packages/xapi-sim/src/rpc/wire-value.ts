/** A parameter as received, before the datamodel determines its type: rpclib's `Rpc.t`. */
export type WireValue =
  | { readonly t: "string"; readonly v: string }
  | { readonly t: "int"; readonly v: bigint }
  | { readonly t: "float"; readonly v: number }
  | { readonly t: "bool"; readonly v: boolean }
  | { readonly t: "datetime"; readonly v: string }
  | { readonly t: "null" }
  | { readonly t: "array"; readonly v: readonly WireValue[] }
  | {
      readonly t: "struct";
      readonly v: readonly (readonly [string, WireValue])[];
    };

export interface RpcRequest {
  readonly method: string;
  readonly params: readonly WireValue[];
}

/** rpclib's notation, as XAPI puts it into error texts: `S(abc)`, `F(3)`, `{a:I(1)}`. */
export function describe(value: WireValue): string {
  switch (value.t) {
    case "string":
      return `S(${value.v})`;
    case "int":
      return `I(${value.v})`;
    case "float":
      return `F(${value.v})`;
    case "bool":
      return `B(${value.v})`;
    case "datetime":
      return `D(${value.v})`;
    case "null":
      return "N";
    case "array":
      return `[${value.v.map(describe).join(";")}]`;
    case "struct":
      return `{${value.v.map(([k, v]) => `${k}:${describe(v)}`).join(";")}}`;
  }
}

/** The request cannot be read: HTTP 500 with the OCaml exception that XAPI's parser raises. */
export class MalformedRequest extends Error {
  readonly exception: string;
  constructor(exception: string) {
    super(exception);
    this.name = "MalformedRequest";
    this.exception = exception;
  }
}

/** Deepest nesting of a request that is read; deeper ones are refused as if the stack were full. */
export const MAX_DEPTH = 1000;

/** Text as OCaml prints the inside of a string literal: bytes beyond ASCII in decimal. */
export function ocamlEscape(text: string): string {
  return text
    .replace(/["\\]/g, (c) => `\\${c}`)
    .replace(/\n/g, "\\n")
    .replace(/\t/g, "\\t")
    .replace(/\r/g, "\\r")
    .replace(/[^ -~]/gu, (c) =>
      [...Buffer.from(c)]
        .map((byte) => `\\${String(byte).padStart(3, "0")}`)
        .join(""),
    );
}
