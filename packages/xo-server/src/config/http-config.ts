import { Type } from "typebox";
import { bytes, count, milliseconds, section } from "./config-parts.js";

const KIB = 1024;
const MIB = 1024 * KIB;

const Tls = section(
  "HTTPS, with a certificate file or a self-signed certificate; neither: plain HTTP.",
  {
    certificate: file(
      "File with the certificate and its intermediate certificates (PEM). Reloaded when it changes, and on SIGHUP.",
    ),
    key: file("File with the private key of the certificate (PEM)."),
    selfSigned: Type.Boolean({
      default: false,
      description:
        "Generate a self-signed certificate at the first start: tls.crt and tls.key in dataDir. Its fingerprint is logged, for clients to pin.",
    }),
    minVersion: Type.Enum(["TLSv1.2", "TLSv1.3"], {
      default: "TLSv1.2",
      description: "Minimum TLS version: TLSv1.2 or TLSv1.3.",
    }),
    redirectPort: Type.Integer({
      default: 0,
      minimum: 0,
      maximum: 65535,
      description:
        "Port of an HTTP server that redirects browsers to HTTPS; 0: none.",
    }),
    hstsSeconds: Type.Integer({
      default: 0,
      minimum: 0,
      maximum: 100_000_000,
      description:
        "Max-age of HTTP Strict Transport Security (HSTS), in seconds: browsers use HTTPS only for this host, on all ports. Requires a certificate file. 0: no HSTS.",
    }),
  },
);

function file(description: string) {
  return Type.String({ default: "", description });
}

export const HttpConfig = section("Web page, API, /health and /metrics.", {
  host: Type.String({
    default: "0.0.0.0",
    minLength: 1,
    description: "Address to listen on; 127.0.0.1: local connections only.",
  }),
  port: Type.Integer({
    default: 9000,
    minimum: 0,
    maximum: 65535,
    description: "Port to listen on; 0: any free port.",
  }),
  publicUrl: Type.String({
    default: "",
    pattern: "^(https?://[^\\s?#]+)?$",
    description:
      "URL of the web page as users enter it, such as https://xo.example.net, for links in notifications; empty: derived from oidc.redirectUrl or the name of the machine.",
  }),
  trustedProxies: Type.Array(Type.String({ minLength: 2, maxLength: 64 }), {
    default: [],
    maxItems: 256,
    description:
      "Trusted reverse proxies, as addresses or networks (10.0.0.0/8). Client address, protocol and host are taken from their Forwarded or X-Forwarded-* headers.",
  }),
  maxConnections: count(
    20_000,
    "Maximum number of open connections; further ones are closed.",
  ),
  maxHeaderBytes: bytes(
    16 * KIB,
    "Maximum size of the headers of a request, in bytes.",
    1024,
  ),
  headersTimeoutMs: milliseconds(
    10_000,
    "Timeout of the TLS handshake and of reading the request headers, in ms.",
  ),
  bodyTimeoutMs: milliseconds(
    30_000,
    "A request whose body makes no progress for this time is aborted, in ms.",
  ),
  maxBodyBytes: bytes(
    MIB,
    "Maximum size of a request body, in bytes. Does not apply to uploads of VMs and disks.",
  ),
  drainMs: count(
    3_000,
    "With several servers (PostgreSQL): time between the signal to stop and the end of connections, in ms. During this time /health responds 404, so that load balancers send clients to other servers. 0: none.",
    0,
  ),
  maxDepth: count(
    64,
    "Maximum nesting of a request or message larger than 3 KiB, in levels.",
    8,
  ),
  maxRequestsPerSecond: count(
    2000,
    "Maximum rate of REST requests per address, per second; further ones are rejected (429).",
  ),
  maxRequestsPerUserPerSecond: count(
    1000,
    "Maximum rate of REST requests per user, per second; further ones are rejected (429).",
  ),
  maxSockets: count(
    15_000,
    "Maximum number of WebSockets; further ones are rejected.",
  ),
  maxSocketsPerAddress: count(
    2_000,
    "Maximum number of WebSockets per address.",
  ),
  maxAnonymousSockets: count(
    2_000,
    "Maximum number of anonymous WebSockets; above, the oldest is closed.",
  ),
  maxMessageBytes: bytes(
    MIB,
    "Maximum size of a WebSocket message of a client, in bytes.",
  ),
  maxMessagesPerSecond: count(
    200,
    "Maximum rate of WebSocket messages per connection, per second; further ones are delayed.",
  ),
  maxMessagesPerUserPerSecond: count(
    2_000,
    "Maximum rate of WebSocket messages per user, or per address for anonymous clients, per second.",
  ),
  compressAboveBytes: bytes(
    0,
    "WebSocket messages larger than this are compressed if the client supports it, in bytes; 0: no compression.",
    0,
  ),
  maxBufferedBytes: bytes(
    4 * MIB,
    "Maximum size of unsent responses to a slow client, in bytes; above, the connection is closed.",
  ),
  maxEventStreams: count(
    1_000,
    "Maximum number of event streams (/rest/v0/events).",
  ),
  maxEventStreamsPerUser: count(
    100,
    "Maximum number of event streams per user.",
  ),
  tls: Tls,
});
