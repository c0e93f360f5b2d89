import { createJSONRPCRequest } from "json-rpc-2.0";
import type { Transport } from "./transport.js";
import { toWireValue } from "./wire-value.js";

/**
 * JSON-RPC 2.0. A connection has one request at a time, so the id is not needed;
 * XAPI returns id 0 for errors before dispatch, whatever was sent.
 */
export const jsonRpcTransport: Transport = {
  name: "json-rpc",
  path: "/jsonrpc",
  contentType: "application/json",
  encoding: "json-rpc",
  encode(method, params) {
    const request = createJSONRPCRequest(0, method, toWireValue(params));
    return Buffer.from(JSON.stringify(request));
  },
};
