import { isObject, type Json } from "@xo-server/kit";
import { ConnectionLostError, RpcError } from "../api/rpc-error.js";

/** Why something was not done, for the form that asked for it. */
export interface Failure {
  /** A code of the server's table of errors; undefined: the server did not answer. */
  readonly code: string | undefined;
  readonly reason: string;
  /** What is wrong with fields, by the name of the parameter: `{ rule, words }`. */
  readonly fields: Readonly<Record<string, FieldFault>>;
}

export interface FieldFault {
  /** Of JSON Schema, such as `minLength`. */
  readonly rule: string;
  /** The server's own words. */
  readonly words: string;
}

export function toFailure(error: unknown): Failure {
  if (error instanceof ConnectionLostError)
    return { code: undefined, reason: error.message, fields: {} };
  if (!(error instanceof RpcError))
    return { code: "INTERNAL", reason: String(error), fields: {} };
  const told = error.data as Json | undefined;
  const data: Readonly<Record<string, Json>> =
    told !== undefined && isObject(told) ? told : {};
  const { code, reason, errors } = data;
  return {
    code: typeof code === "string" ? code : "INTERNAL",
    reason: typeof reason === "string" ? reason : error.message,
    fields: Object.fromEntries(
      (Array.isArray(errors) ? errors : []).flatMap(toFault),
    ),
  };
}

/** Of `/sendTo/0/addresses` the field is `sendTo`; of what is missing, what is missing. */
function toFault(error: Json): [string, FieldFault][] {
  if (!isObject(error)) return [];
  const { instancePath, keyword, message, params } = error;
  const missing = isObject(params ?? null)
    ? (params as { readonly missingProperty?: Json }).missingProperty
    : undefined;
  const path = typeof instancePath === "string" ? instancePath : "";
  const field =
    path === "" && typeof missing === "string"
      ? missing
      : (path.split("/")[1] ?? "");
  if (field === "") return [];
  return [[field, { rule: textOf(keyword), words: textOf(message) }]];
}

function textOf(told: Json | undefined): string {
  return typeof told === "string" ? told : "";
}
