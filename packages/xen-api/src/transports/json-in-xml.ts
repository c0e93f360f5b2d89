import type { Transport } from "./transport.js";
import { encodeXmlCall } from "./xml-call.js";

/**
 * XML-RPC whose answer contains the value as one string of JSON (XenServer 6 and
 * 7). Current hosts answer with plain XML-RPC here; the decoder detects which.
 */
export const jsonInXmlTransport: Transport = {
  name: "json-in-xml",
  path: "/json",
  contentType: "text/xml",
  encoding: "json-in-xml",
  encode: encodeXmlCall,
};
