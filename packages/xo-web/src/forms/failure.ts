import { isObject, type Json } from "@xo-server/kit";
import { ConnectionLostError, RpcError } from "../api/rpc-error.js";

/** Why a call failed, as forms show it. */
export interface FormFailure {
  /** A code of the error table (docs/errors.md); undefined: the connection was lost. */
  readonly code: string | undefined;
  readonly reason: string;
  /** Until another attempt is accepted. */
  readonly seconds?: number;
  /** Errors of fields by the name of the parameter. */
  readonly fields: Readonly<Record<string, FieldInputError>>;
}

interface FieldInputError {
  /** Keyword of JSON Schema, such as `minLength`. */
  readonly rule: string;
  /** Message of the server. */
  readonly message: string;
}

/** An error of a request: its reason, and what belongs to single fields. */
export function toFailure(error: unknown): FormFailure {
  if (error instanceof ConnectionLostError)
    return { code: undefined, reason: error.message, fields: {} };
  if (!(error instanceof RpcError))
    return { code: "INTERNAL", reason: String(error), fields: {} };
  const raw = error.data as Json | undefined;
  const data: Readonly<Record<string, Json>> =
    raw !== undefined && isObject(raw) ? raw : {};
  const { code, reason, seconds, errors } = data;
  return {
    code: typeof code === "string" ? code : "INTERNAL",
    reason: typeof reason === "string" ? reason : error.message,
    ...(typeof seconds === "number" ? { seconds } : {}),
    fields: Object.fromEntries(
      (Array.isArray(errors) ? errors : []).flatMap(toInputError),
    ),
  };
}

/** The field is the first part of the path (`/targets/0/addresses`: `targets`), or the missing property. */
function toInputError(error: Json): [string, FieldInputError][] {
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
  return [[field, { rule: textOf(keyword), message: textOf(message) }]];
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
