/*
 * `node:http2` for Fastify in the bundle: Fastify requires it when it is loaded, and uses it
 * only for servers of HTTP/2.
 */
const http2 = () => process.getBuiltinModule("node:http2");

export const createServer = (...args) => http2().createServer(...args);
export const createSecureServer = (...args) =>
  http2().createSecureServer(...args);
