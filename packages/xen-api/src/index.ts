export { createXapi } from "./create-xapi.js";
export { CALL_MARK, creationMark } from "./calls/creation-mark.js";
export { DelegatingXapi } from "./delegating-xapi.js";
export {
  DEFAULT_EVENT_GRACE_MS,
  DEFAULT_EVENT_TIMEOUT_MS,
  DEFAULT_PROBE_TIMEOUT_MS,
  DEFAULT_THROTTLE_MS,
} from "./options.js";
export type {
  EventAnswer,
  EventRelay,
  FollowedEvents,
  RelayRequest,
} from "./events/event-relay.js";
export { isOlderToken } from "./events/event-token.js";
export type {
  IndirectConnection,
  IndirectRoute,
} from "./http/indirect-route.js";
export { hostName } from "./http/address.js";
export { probeHost, type HostProbe, type ProbeOptions } from "./probe-host.js";
export type { PeerCertificate } from "./http/peer-certificate.js";
export { isPermanent } from "./rpc/retry-policy.js";
export type { BackoffOptions, TransportName, XapiOptions } from "./options.js";
export type { TlsPolicy, TrustOnFirstUse } from "./http/tls-policy.js";
export type { DecodeHandlers, DecodeStream, Decoder } from "./decoder.js";
export type {
  AsyncCallOptions,
  CallOptions,
  SendOptions,
  EventPosition,
  EventsOptions,
  ListOptions,
  ListResult,
  LostReason,
  PoolIdentity,
  PutStreamOptions,
  StreamAnswer,
  StreamTarget,
  StreamOptions,
  Xapi,
  XapiCounters,
  XapiEvents,
  XapiState,
} from "./xapi.js";
