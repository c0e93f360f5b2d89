import { EventStream } from "./event-stream.js";
import { tokenIssuer } from "./event-position.js";
import { injectToken } from "./inject-token.js";
import { changesMembership, memberAddresses } from "../members.js";
import type { XapiComponents } from "../components.js";
import type { RecordBatch } from "@xo-server/model";
import type { EventsOptions, XapiEvents } from "../xapi.js";

/** See Xapi.events. The task tracker and the list of candidates are updated from the same events. */
export function openEventStream(
  components: XapiComponents,
  options: EventsOptions,
): AsyncIterable<XapiEvents> {
  const { settings, tasks, closing, secrets, counts } = components;
  const classes = options.classes ?? ["*"];
  const signals = [closing.signal, options.signal];
  const stream = new EventStream({
    ...settings,
    ...components,
    classes,
    injectToken: () => injectToken(components),
    currentIssuer: () => tokenIssuer(components),
    from: options.from ?? "",
    issuer: options.issuer,
    throttleMs: options.throttleMs ?? settings.throttleMs,
    signal: AbortSignal.any(signals.filter((signal) => signal !== undefined)),
    onStart: () =>
      includesTasks(classes) ? tasks.addEventSource() : () => undefined,
    onBatch: (batch) => {
      tasks.applyBatch(batch);
      if (changesMembership(batch) || namesUnknownHost(components, batch))
        void components.discover();
    },
    onAnswer: () => {
      counts.eventAnswers++;
    },
    scrubError: (error) => secrets.scrubError(error),
  });
  return stream.items();
}

function includesTasks(classes: readonly string[]): boolean {
  return classes.some(
    (filter) => filter === "*" || filter.toLowerCase() === "task",
  );
}

/** Was the address of a host changed? */
function namesUnknownHost(
  { session, candidates }: XapiComponents,
  batch: RecordBatch,
): boolean {
  const { current } = session;
  return (
    current !== undefined &&
    memberAddresses(batch, current.address).some(
      (address) => !candidates.isKnown(address),
    )
  );
}
