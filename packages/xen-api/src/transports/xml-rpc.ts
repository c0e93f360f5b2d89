import type { Transport } from "./transport.js";
import { encodeXmlCall } from "./xml-call.js";

/** Plain XML-RPC: supported by every XAPI. */
export const xmlRpcTransport: Transport = {
  name: "xml-rpc",
  path: "/",
  contentType: "text/xml",
  encoding: "xml-rpc",
  encode: encodeXmlCall,
};
