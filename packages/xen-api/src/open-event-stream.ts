import { EventStream } from "./event-stream.js";
import { injectToken } from "./inject-token.js";
import { discoverMembers } from "./discover-members.js";
import { changesMembership } from "./members.js";
import type { XapiComponents } from "./components.js";
import type { EventsOptions, XapiEvents } from "./xapi.js";

/** See Xapi.events. The task tracker and the list of candidates are updated from the same events. */
export function openEventStream(
  components: XapiComponents,
  options: EventsOptions,
  onCandidates: ((hosts: readonly string[]) => void) | undefined,
): AsyncIterable<XapiEvents> {
  const { settings, tasks, closing, secrets, counts } = components;
  const classes = options.classes ?? ["*"];
  const signals = [closing.signal, options.signal];
  const stream = new EventStream({
    ...settings,
    ...components,
    classes,
    injectToken: () => injectToken(components),
    from: options.from ?? "",
    throttleMs: options.throttleMs ?? settings.throttleMs,
    signal: AbortSignal.any(signals.filter((signal) => signal !== undefined)),
    onStart: () =>
      includesTasks(classes) ? tasks.addEventSource() : () => undefined,
    onBatch: (batch) => {
      tasks.applyBatch(batch);
      if (changesMembership(batch))
        void discoverMembers(components, onCandidates);
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
