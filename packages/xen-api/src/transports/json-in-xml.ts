import type { Transport } from "./transport.js";
import { encodeXmlCall } from "./xml-call.js";

/**
 * XML-RPC whose answer holds the value as one string of JSON. Hosts of today
 * answer plain XML-RPC here: the decoder looks at what came.
 */
export const jsonInXmlTransport: Transport = {
  name: "json-in-xml",
  path: "/json",
  contentType: "text/xml",
  encoding: "json-in-xml",
  encode: encodeXmlCall,
};
