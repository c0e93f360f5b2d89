import { XapiError, XoError, errorTable } from "@xo-server/model";
import {
  JSONRPCServer,
  createJSONRPCErrorResponse,
  createJSONRPCSuccessResponse,
  isJSONRPCRequest,
  type JSONRPCRequest,
  type JSONRPCResponse,
} from "json-rpc-2.0";
import type { Client } from "../../auth/sessions/client.js";
import type { Dispatcher } from "../../operations/dispatcher.js";
import type { CallContext } from "../../operations/operation.js";
import { parseTraceparent } from "../../telemetry/trace-context.js";
import type { SocketMessage } from "./send-queue.js";
import {
  joinArray,
  joinObject,
  JsonStream,
  RawJson,
} from "../../encoding/raw-json.js";
import { shortened, withShortTexts } from "../errors/short-texts.js";
import { fromXapiError } from "../../operations/xapi-errors.js";

/** Maximum number of requests per batch. */
const MAX_BATCH = 100;

/** Handles JSON-RPC 2.0 messages, with batches and notifications. */
export interface JsonRpcHandler {
  /** @returns the response; undefined: none is sent. Never rejects. */
  handle(
    text: string,
    context: CallContext,
  ): Promise<SocketMessage | undefined>;
}

/** The id of the object with an opaque reference. */
type IdOf = (ref: string) => string | undefined;

interface JsonRpcOptions {
  readonly idOf?: IdOf;
  /** Called before each call of a method. */
  readonly onCall?: (client: Client, method: string) => void;
}

/** Handles JSON-RPC 2.0 requests and batches; errors become JSON-RPC errors with the codes of the table. */
export function createJsonRpcHandler(
  dispatcher: Dispatcher,
  { idOf = () => undefined, onCall = () => undefined }: JsonRpcOptions = {},
): JsonRpcHandler {
  // Errors are translated below; the library would print them.
  const server = new JSONRPCServer<CallContext>({
    errorListener: () => undefined,
  });
  const parts = { dispatcher, idOf, onCall };
  server.applyMiddleware(async (_next, request, context) =>
    handleOne(parts, request, context),
  );
  return {
    async handle(text, context) {
      const message = parse(text);
      // Fast path for single requests: the library does the same in four times the time.
      const response = isRequest(message)
        ? await handleOne(parts, message, context)
        : await receive(server, message, context);
      return response === null ? undefined : encode(response);
    },
  };
}

function encode(response: JSONRPCResponse | JSONRPCResponse[]): SocketMessage {
  if (!Array.isArray(response) && !isEncoded(response.result))
    return JSON.stringify(response);
  const all = Array.isArray(response) ? response : [response];
  if (all.some(({ result }) => result instanceof JsonStream))
    return new JsonStream(
      encodeInParts(all, Array.isArray(response)),
      (part) => {
        for (const { result } of all)
          if (result instanceof JsonStream) result.onSent(part);
      },
    );
  if (!all.some(({ result }) => result instanceof RawJson))
    return JSON.stringify(response);
  const parts = all.map(encodeOne);
  return Array.isArray(response) ? joinArray(parts) : parts[0]!;
}

function isEncoded(result: unknown): boolean {
  return result instanceof JsonStream || result instanceof RawJson;
}

function encodeOne(response: JSONRPCResponse): Buffer {
  const result: unknown = response.result;
  return result instanceof RawJson
    ? joinObject(envelopeOf(response), [["result", result.pieces]])
    : Buffer.from(JSON.stringify(response));
}

async function* encodeInParts(
  responses: readonly JSONRPCResponse[],
  isBatch: boolean,
): AsyncGenerator<Buffer> {
  let before = isBatch ? "[" : "";
  for (const response of responses) {
    const result: unknown = response.result;
    if (result instanceof JsonStream) {
      const head = JSON.stringify(envelopeOf(response)).slice(0, -1);
      yield Buffer.from(`${before}${head},"result":`);
      yield* result.parts;
      yield Buffer.from("}");
    } else yield Buffer.concat([Buffer.from(before), encodeOne(response)]);
    before = ",";
  }
  if (isBatch) yield Buffer.from("]");
}

function envelopeOf({ id }: JSONRPCResponse) {
  return { jsonrpc: "2.0", id };
}

type Response = JSONRPCResponse | JSONRPCResponse[] | null;

function isRequest(message: unknown): message is JSONRPCRequest {
  return message !== null && isJSONRPCRequest(message);
}

/** @returns the error if the text is not JSON */
function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const reason = (error as Error).message;
    return new XoError("PARSE_ERROR", { reason });
  }
}

async function receive(
  server: JSONRPCServer<CallContext>,
  message: unknown,
  context: CallContext,
): Promise<Response> {
  if (message instanceof XoError) return toErrorResponse(null, message);
  if (!Array.isArray(message))
    return server.receive(toRequest(message), context);
  if (message.length > MAX_BATCH) {
    const reason = `a batch has at most ${MAX_BATCH} requests`;
    return toErrorResponse(null, new XoError("INVALID_REQUEST", { reason }));
  }
  const answers = await server.receive(message.map(toRequest), context);
  // The library returns a single response for a batch of one; the specification requires an array.
  return answers === null || Array.isArray(answers) || message.length === 0
    ? answers
    : [answers];
}

/**
 * The library reads members without checking the type. Anything but an object is
 * replaced by an empty object, which is an invalid request.
 */
function toRequest(message: unknown): JSONRPCRequest {
  if (typeof message !== "object" || message === null)
    return {} as JSONRPCRequest;
  const { id, ...others } = message as JSONRPCRequest;
  return isAbsentId(id) ? others : { ...others, id };
}

/** A null id counts as absent, as in JSON-RPC 1.0 and in Xen Orchestra. */
function isAbsentId(id: JSONRPCRequest["id"]): id is undefined | null {
  return id === undefined || id === null;
}

/** A request with `traceparent`, a member that JSON-RPC does not define. */
type TracedRequest = JSONRPCRequest & { readonly traceparent?: unknown };

interface Parts {
  readonly dispatcher: Dispatcher;
  readonly idOf: IdOf;
  readonly onCall: (client: Client, method: string) => void;
}

async function handleOne(
  { dispatcher, idOf, onCall }: Parts,
  { id, method, params, traceparent }: TracedRequest,
  context: CallContext,
): Promise<JSONRPCResponse | null> {
  try {
    // The library does not check the type; the dispatcher rejects other types.
    if (typeof method === "string") onCall(context.client, method);
    const trace = parseTraceparent(traceparent);
    const result = await dispatcher.call(
      method,
      params,
      trace === undefined ? context : { ...context, trace },
    );
    return isAbsentId(id) ? null : createJSONRPCSuccessResponse(id, result);
  } catch (error) {
    return isAbsentId(id) ? null : toErrorResponse(id, error as Error, idOf);
  }
}

/** Maps errors to JSON-RPC error responses. */
function toErrorResponse(
  id: NonNullable<JSONRPCRequest["id"]> | null,
  error: Error,
  idOf: IdOf = () => undefined,
): JSONRPCResponse {
  const known =
    error instanceof XapiError ? (fromXapiError(error, idOf) ?? error) : error;
  const { code, message, data } = translate(known);
  return createJSONRPCErrorResponse(
    id,
    code,
    shortened(message),
    withShortTexts(data),
  );
}

interface Translated {
  readonly code: number;
  readonly message: string;
  readonly data: unknown;
}

function translate(error: Error): Translated {
  if (error instanceof XoError) return translateOwn(error);
  const { message } = error;
  if (error instanceof XapiError) {
    const { code, params } = error;
    return { code: -32000, message, data: { code, params } };
  }
  return { code: -32603, message: "internal error", data: null };
}

function translateOwn({ code, message, data }: XoError): Translated {
  const { jsonRpc } = errorTable[code];
  if (code === "UNKNOWN_METHOD")
    return { code: jsonRpc, message, data: data["method"] };
  // Clients of Xen Orchestra compare this message, so the reason is in the data.
  if (code === "INVALID_PARAMETERS")
    return {
      code: jsonRpc,
      message: "invalid parameters",
      data: { code, errors: [], ...data },
    };
  return { code: jsonRpc, message, data: { code, ...data } };
}
