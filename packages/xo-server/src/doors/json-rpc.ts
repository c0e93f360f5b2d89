import { XapiError, XoError, errorTable } from "@xo-server/model";
import {
  JSONRPCServer,
  createJSONRPCErrorResponse,
  createJSONRPCSuccessResponse,
  type JSONRPCRequest,
  type JSONRPCResponse,
} from "json-rpc-2.0";
import type { Dispatcher } from "../operations/dispatcher.js";
import type { CallContext } from "../operations/operation.js";
import { joinArray, joinObject, RawJson } from "./raw-json.js";

/** Requests of one batch at most. */
const MAX_BATCH = 100;

/** Text in, text out: JSON-RPC 2.0 with batches and notifications. */
export interface JsonRpcDoor {
  /** JSON as text, or its UTF-8; undefined: nothing is to be answered. Never rejects. */
  answer(
    text: string,
    context: CallContext,
  ): Promise<string | Buffer | undefined>;
}

export function createJsonRpcDoor(dispatcher: Dispatcher): JsonRpcDoor {
  // All errors are translated below; the library's own way of telling is not needed.
  const server = new JSONRPCServer<CallContext>({
    errorListener: () => undefined,
  });
  server.applyMiddleware(async (_next, request, context) =>
    answerOne(dispatcher, request, context),
  );
  return {
    async answer(text, context) {
      const response = await receive(server, text, context);
      return response === null ? undefined : encode(response);
    },
  };
}

function encode(response: JSONRPCResponse | JSONRPCResponse[]) {
  const all = Array.isArray(response) ? response : [response];
  if (!all.some(({ result }) => result instanceof RawJson))
    return JSON.stringify(response);
  const parts = all.map(encodeOne);
  return Array.isArray(response) ? joinArray(parts) : parts[0]!;
}

function encodeOne(response: JSONRPCResponse): Buffer {
  const result: unknown = response.result;
  return result instanceof RawJson
    ? joinObject({ jsonrpc: "2.0", id: response.id }, [
        ["result", result.bytes],
      ])
    : Buffer.from(JSON.stringify(response));
}

type Answer = JSONRPCResponse | JSONRPCResponse[] | null;

async function receive(
  server: JSONRPCServer<CallContext>,
  text: string,
  context: CallContext,
): Promise<Answer> {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch (error) {
    const reason = (error as Error).message;
    return toErrorResponse(null, new XoError("PARSE_ERROR", { reason }));
  }
  if (!Array.isArray(message))
    return server.receive(toRequest(message), context);
  if (message.length > MAX_BATCH) {
    const reason = `a batch has at most ${MAX_BATCH} requests`;
    return toErrorResponse(null, new XoError("INVALID_REQUEST", { reason }));
  }
  const answers = await server.receive(message.map(toRequest), context);
  // The library answers a batch of one with a bare response; the specification wants a list.
  return answers === null || Array.isArray(answers) || message.length === 0
    ? answers
    : [answers];
}

/** The library looks into what it takes for an object; anything else becomes an object that is no request. */
function toRequest(message: unknown): JSONRPCRequest {
  return (
    typeof message === "object" && message !== null ? message : {}
  ) as JSONRPCRequest;
}

async function answerOne(
  dispatcher: Dispatcher,
  { id, method, params }: JSONRPCRequest,
  context: CallContext,
): Promise<JSONRPCResponse | null> {
  try {
    const result = await dispatcher.call(method, params, context);
    return id === undefined ? null : createJSONRPCSuccessResponse(id, result);
  } catch (error) {
    return id === undefined ? null : toErrorResponse(id, error as Error);
  }
}

/** The table of errors, for this door. XAPI's own codes pass through. */
function toErrorResponse(
  id: NonNullable<JSONRPCRequest["id"]> | null,
  error: Error,
): JSONRPCResponse {
  const { code, message, data } = translate(error);
  return createJSONRPCErrorResponse(id, code, message, data);
}

function translate(error: Error): {
  code: number;
  message: string;
  data: unknown;
} {
  const { message } = error;
  if (error instanceof XoError) {
    const { code, data } = error;
    return { code: errorTable[code].jsonRpc, message, data: { code, ...data } };
  }
  if (error instanceof XapiError) {
    const { code, params } = error;
    return { code: -32000, message, data: { code, params } };
  }
  return { code: -32603, message: "internal error", data: null };
}
