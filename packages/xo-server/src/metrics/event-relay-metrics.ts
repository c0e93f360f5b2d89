import type { EventRelays } from "../event-relay/event-relays.js";
import { byLabel, type Metric } from "./exposition.js";

/** @param relays undefined: there are no other servers, and no metrics */
export function toEventRelayMetrics(relays: EventRelays | undefined): Metric[] {
  if (relays === undefined) return [];
  const received = relays.client.figures;
  const sent = relays.server.figures;
  const { compared, different } = relays.check.figures;
  return [
    byLabel(
      {
        name: "xo_event_relay_streams",
        help: "Pools whose events are received from or sent to another server, by direction.",
        kind: "gauge",
      },
      "direction",
      { received: received.streams, sent: sent.streams },
    ),
    byLabel(
      {
        name: "xo_event_relay_answers_total",
        help: "Answers of event.from received from or sent to another server, by direction.",
        kind: "counter",
      },
      "direction",
      { received: received.answers, sent: sent.answers },
    ),
    byLabel(
      {
        name: "xo_event_relay_failures_total",
        help: "Streams of events of another server that failed, and refused requests for streams.",
        kind: "counter",
      },
      "reason",
      { failed: received.failed, refused: sent.refused },
    ),
    byLabel(
      {
        name: "xo_event_relay_digests_total",
        help: "Comparisons of the digests of pools with those of the server whose events were received, by result.",
        kind: "counter",
      },
      "result",
      { equal: compared - different, different },
    ),
  ];
}
