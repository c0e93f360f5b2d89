import { Type } from "typebox";
import { bytes, count, milliseconds, section } from "./config-parts.js";

const KIB = 1024;
const MIB = 1024 * KIB;

const Tls = section(
  "HTTPS, with a certificate of your own or one that is made here; neither: plain HTTP.",
  {
    certificate: file(
      "File with the certificate and those between it and its authority (PEM). Read again when it changes, and on SIGHUP.",
    ),
    key: file("File with the certificate's key (PEM)."),
    selfSigned: Type.Boolean({
      default: false,
      description:
        "Make a certificate at the first start: tls.crt and tls.key in dataDir. Clients pin its fingerprint, which is logged.",
    }),
    minVersion: Type.Enum(["TLSv1.2", "TLSv1.3"], {
      default: "TLSv1.2",
      description: "TLSv1.2 or TLSv1.3; what is older is refused.",
    }),
    redirectPort: Type.Integer({
      default: 0,
      minimum: 0,
      maximum: 65535,
      description: "Port that sends browsers from http to https; 0: none.",
    }),
    hstsSeconds: Type.Integer({
      default: 0,
      minimum: 0,
      maximum: 100_000_000,
      description:
        "Browsers are told to use nothing but https with this host, on all ports, for so long (HSTS); only with a certificate of your own. 0: they are not.",
    }),
  },
);

function file(description: string) {
  return Type.String({ default: "", description });
}

export const HttpConfig = section("The web page, the API and /health.", {
  host: Type.String({
    default: "0.0.0.0",
    minLength: 1,
    description: "Address to listen on; 127.0.0.1 for this machine only.",
  }),
  port: Type.Integer({
    default: 9000,
    minimum: 0,
    maximum: 65535,
    description: "Port to listen on; 0 takes any free one.",
  }),
  trustedProxies: Type.Array(Type.String({ minLength: 2, maxLength: 64 }), {
    default: [],
    maxItems: 256,
    description:
      "Reverse proxies, as addresses or networks (10.0.0.0/8): what they say in X-Forwarded-* or Forwarded of who asks, and how, is believed.",
  }),
  maxConnections: count(
    20_000,
    "Open connections at most; further ones are closed.",
  ),
  maxHeaderBytes: bytes(
    16 * KIB,
    "Headers of a request at most, in bytes.",
    1024,
  ),
  headersTimeoutMs: milliseconds(
    10_000,
    "The headers of a request must be there within, and TLS be agreed on.",
  ),
  bodyTimeoutMs: milliseconds(
    30_000,
    "A request whose body has stood still for so long is given up.",
  ),
  maxBodyBytes: bytes(
    MIB,
    "Body of a request at most, in bytes; images that are uploaded are not bound by it.",
  ),
  maxDepth: count(
    64,
    "Nesting of a request or message above 3 KiB at most, in levels.",
    8,
  ),
  maxRequestsPerSecond: count(
    2000,
    "Requests of the REST API a second from one address; more of them are refused.",
  ),
  maxRequestsPerUserPerSecond: count(
    1000,
    "Requests of the REST API a second from one user; more of them are refused.",
  ),
  maxSockets: count(15_000, "WebSockets at most; further ones are refused."),
  maxSocketsPerAddress: count(2_000, "The same from one address."),
  maxGuestSockets: count(
    2_000,
    "WebSockets of those who have not signed in; of more of them the oldest is closed.",
  ),
  maxMessageBytes: bytes(
    4 * MIB,
    "WebSocket message from a client at most, in bytes.",
  ),
  maxMessagesPerSecond: count(
    200,
    "WebSocket messages a second that a client gets answered; more of them wait.",
  ),
  maxMessagesPerUserPerSecond: count(
    2_000,
    "The same of all clients of one user, and of all guests of one address.",
  ),
  compressAboveBytes: bytes(
    0,
    "WebSocket messages above this size are compressed for clients that can it; 0: none are.",
    0,
  ),
  maxBufferedBytes: bytes(
    4 * MIB,
    "Answers waiting for a slow client at most, in bytes; it is closed above that.",
  ),
  maxEventStreams: count(1_000, "Readers of /rest/v0/events at most."),
  maxEventStreamsPerUser: count(100, "The same of one user."),
  tls: Tls,
});
