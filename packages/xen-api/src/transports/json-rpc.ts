import { createJSONRPCRequest } from "json-rpc-2.0";
import type { Transport } from "./transport.js";
import { toWireValue } from "./wire-value.js";

/**
 * JSON-RPC 2.0. There is one request on a connection at a time, so that the id
 * says nothing; errors before dispatch come back with id 0 whatever was sent.
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
