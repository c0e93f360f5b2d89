/*
 * `node:http2` for Fastify in the bundle: Fastify requires it when it is loaded, and uses it
 * only for servers of HTTP/2.
 */
for (const name of ["createServer", "createSecureServer"])
  exports[name] = (...args) => require("node:http2")[name](...args);
