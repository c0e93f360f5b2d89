import { isObject, type Json, type JsonObject } from "@xo-server/kit";

/** A message from the server, by kind. */
type Incoming =
  | { kind: "result"; id: number; result: Json }
  | {
      kind: "error";
      id: number | null;
      code: number;
      message: string;
      data: Json;
    }
  | { kind: "notification"; method: string; params: Json }
  | { kind: "bad" };

/** Reads one text frame of JSON-RPC 2.0. Never throws: an invalid message is `bad`. */
export function readMessage(text: string): Incoming {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return { kind: "bad" };
  }
  if (!isObject(message)) return { kind: "bad" };
  const own = (key: string): Json =>
    Object.hasOwn(message, key) ? message[key]! : null;
  const id = own("id");
  const method = own("method");
  if (typeof method === "string")
    return { kind: "notification", method, params: own("params") };
  const error = own("error");
  if (isObject(error)) return readError(id, error);
  if (typeof id === "number" && Object.hasOwn(message, "result"))
    return { kind: "result", id, result: own("result") };
  return { kind: "bad" };
}

function readError(id: Json, error: JsonObject): Incoming {
  const { code, message, data } = error;
  return {
    kind: "error",
    id: typeof id === "number" ? id : null,
    code: typeof code === "number" ? code : -32603,
    message: typeof message === "string" ? message : "error without a message",
    data: data ?? null,
  };
}
