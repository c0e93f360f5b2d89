import type { CallOrigin } from "../calls/core.js";
import {
  EarlyFailure,
  toFailure,
  type Dispatcher,
} from "../calls/dispatcher.js";
import type { Answer, Chunk } from "../rpc/answer.js";
import { readJsonRequest, type JsonRequest } from "../rpc/json-request.js";
import { quote } from "../rpc/json-writer.js";
import { findInvalidUtf8 } from "../rpc/param-reader.js";
import { readXmlRequest } from "../rpc/xml-request.js";
import { escapeXml } from "../rpc/xml-writer.js";
import { MalformedRequest, type RpcRequest } from "../rpc/wire-value.js";
import { gather } from "./body-writer.js";
import { internalError, type XapiFailure } from "../xapi-failure.js";

/** The call that an endpoint has decoded. */
interface EndpointResponse {
  readonly method: string;
  readonly contentType: "text/xml" | "application/json";
  readonly body: readonly Chunk[];
  /** False for errors raised before dispatch: then the CORS headers are absent. */
  readonly cors: boolean;
  /** The call failed as on a member that is not the coordinator. */
  readonly isSlave: boolean;
}

/** One way to speak: reads a body, calls, writes the answer. @throws MalformedRequest */
export type RpcEndpoint = (
  dispatcher: Dispatcher,
  body: Buffer,
  origin: CallOrigin,
) => Promise<EndpointResponse>;

const XML_HEAD = '<?xml version="1.0"?><methodResponse><params><param>';
const XML_TAIL = "</param></params></methodResponse>";
const XML_SUCCESS = `${XML_HEAD}<value><struct><member><name>Status</name><value>Success</value></member><member><name>Value</name>`;
const XML_FAILURE = `${XML_HEAD}<value><struct><member><name>Status</name><value>Failure</value></member><member><name>ErrorDescription</name><value><array><data>`;

/** POST / and everything without a longer match. */
export const xmlEndpoint: RpcEndpoint = async (dispatcher, body, origin) => {
  const request = readXmlRequest(body);
  const { answer, failure } = await attempt(dispatcher, request, origin);
  if (failure !== undefined) return xmlFailure(request, failure);
  // The only answer without Status and Value.
  if (request.method === "system.listMethods")
    return xmlAnswer(request, undefined, [
      XML_HEAD,
      ...answer!.xml(),
      XML_TAIL,
    ]);
  return xmlAnswer(request, undefined, [
    XML_SUCCESS,
    ...answer!.xml(),
    `</member></struct></value>${XML_TAIL}`,
  ]);
};

/**
 * POST /jsonrpc of a host that is too old for it: XML-RPC by the prefix rule.
 * JSON gets a failure in text/xml, by which clients detect it (present hosts
 * answer 500).
 */
export const oldHostEndpoint: RpcEndpoint = async (
  dispatcher,
  body,
  origin,
) => {
  try {
    return await xmlEndpoint(dispatcher, body, origin);
  } catch (error) {
    if (!(error instanceof MalformedRequest)) throw error;
    return xmlFailure({ method: "" }, internalError(error.exception));
  }
};

/** POST /json of hosts of the XenServer 6 and 7 time: one string of JSON inside the XML-RPC answer. */
export const legacyJsonEndpoint: RpcEndpoint = async (
  dispatcher,
  body,
  origin,
) => {
  const request = readXmlRequest(body);
  const { answer, failure } = await attempt(dispatcher, request, origin);
  const inside: Chunk[] =
    failure === undefined
      ? [escapeXml('{"Status":"Success","Value":'), ...escaped(answer!), "}"]
      : [
          escapeXml(
            `{"Status":"Failure","ErrorDescription":[${[failure.code, ...failure.params].map(quote).join(",")}]}`,
          ),
        ];
  return xmlAnswer(request, failure, [
    `${XML_HEAD}<value>`,
    ...inside,
    `</value>${XML_TAIL}`,
  ]);
};

function escaped(answer: Answer & { escapedJson?(): Buffer }): Chunk[] {
  if (answer.escapedJson !== undefined) return [answer.escapedJson()];
  return [...gather(answer.json())].map((json) => escapeXml(json.toString()));
}

function xmlFailure(
  request: Pick<RpcRequest, "method">,
  failure: XapiFailure,
): EndpointResponse {
  return xmlAnswer(request, failure, [
    XML_FAILURE,
    ...[failure.code, ...failure.params].map(
      (text) => `<value>${escapeXml(text)}</value>`,
    ),
    `</data></array></value></member></struct></value>${XML_TAIL}`,
  ]);
}

function xmlAnswer(
  { method }: Pick<RpcRequest, "method">,
  failure: XapiFailure | undefined,
  body: readonly Chunk[],
): EndpointResponse {
  return {
    method,
    contentType: "text/xml",
    body,
    cors: !(failure instanceof EarlyFailure),
    isSlave: failure?.code === "HOST_IS_SLAVE",
  };
}

/** POST /jsonrpc, versions 1.0 and 2.0. */
export const jsonEndpoint: RpcEndpoint = async (dispatcher, body, origin) => {
  const text = body.toString("utf8");
  if (text.includes("\ufffd")) {
    const refusal = refuseInvalidUtf8(body);
    if (refusal !== undefined) return refusal;
  }
  const request = readJsonRequest(text);
  const { answer, failure } = await attempt(dispatcher, request, origin);
  return {
    method: request.method,
    contentType: "application/json",
    body:
      failure === undefined
        ? jsonSuccess(request, answer!)
        : [jsonFailure(request, failure)],
    cors: !(failure instanceof EarlyFailure),
    isSlave: failure?.code === "HOST_IS_SLAVE",
  };
};

function jsonSuccess({ version, id }: JsonRequest, answer: Answer): Chunk[] {
  return version === "1.0"
    ? ['{"result":', ...answer.json(), `,"error":null,"id":${id}}`]
    : ['{"jsonrpc":"2.0","result":', ...answer.json(), `,"id":${id}}`];
}

function jsonFailure(
  { version, id }: JsonRequest,
  failure: XapiFailure,
): string {
  const params = failure.params.map(quote);
  const all = [quote(failure.code), ...params].join(",");
  // Raised before dispatch: a bare array with id 0, whatever the request was.
  if (failure instanceof EarlyFailure)
    return `{"jsonrpc":"2.0","error":[${all}],"id":0}`;
  if (version === "1.0") return `{"result":null,"error":[${all}],"id":${id}}`;
  return `{"jsonrpc":"2.0","error":{"code":1,"message":${quote(failure.code)},"data":[${params.join(",")}]},"id":${id}}`;
}

/** A parameter that is not UTF-8 is repeated as it came: this answer is not UTF-8 itself. */
function refuseInvalidUtf8(body: Buffer): EndpointResponse | undefined {
  const request = readJsonRequest(body.toString("latin1"));
  const bad = findInvalidUtf8(request.params);
  if (bad === undefined) return undefined;
  const text = `{"jsonrpc":"2.0","error":["INVALID_VALUE","Invalid UTF-8 string in parameter",${quote(`S(${bad})`)}],"id":0}`;
  return {
    method: request.method,
    contentType: "application/json",
    body: [Buffer.from(text, "latin1")],
    cors: false,
    isSlave: false,
  };
}

async function attempt(
  dispatcher: Dispatcher,
  request: RpcRequest,
  origin: CallOrigin,
): Promise<{ answer?: Answer; failure?: XapiFailure }> {
  try {
    return { answer: await dispatcher.call(request, origin) };
  } catch (error) {
    if (error instanceof MalformedRequest) throw error;
    return { failure: toFailure(error) };
  }
}
