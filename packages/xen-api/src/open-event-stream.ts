import { EventStream } from "./event-stream.js";
import { injectToken } from "./inject-token.js";
import { discoverMembers } from "./discover-members.js";
import { changesMembership } from "./members.js";
import type { XapiComponents } from "./components.js";
import type { EventsOptions, XapiEvents } from "./xapi.js";

/** See Xapi.events. Tasks and candidates learn from what passes. */
export async function* openEventStream(
  parts: XapiComponents,
  options: EventsOptions,
  onCandidates: ((hosts: readonly string[]) => void) | undefined,
): AsyncGenerator<XapiEvents, void, undefined> {
  const { settings, tasks, closing, secrets } = parts;
  const classes = options.classes ?? ["*"];
  const signals = [closing.signal, options.signal];
  const stream = new EventStream({
    ...settings,
    ...parts,
    classes,
    injectToken: () => injectToken(parts),
    from: options.from ?? "",
    throttleMs: options.throttleMs ?? settings.throttleMs,
    signal: AbortSignal.any(signals.filter((signal) => signal !== undefined)),
    onBatch: (batch) => {
      tasks.applyBatch(batch);
      if (changesMembership(batch)) void discoverMembers(parts, onCandidates);
    },
  });
  const endFeed = includesTasks(classes) ? tasks.addEventSource() : undefined;
  try {
    for await (const item of stream.run()) {
      if (item.kind === "changes") parts.counts.eventAnswers++;
      yield item;
    }
  } catch (error) {
    throw secrets.scrubError(error);
  } finally {
    endFeed?.();
  }
}

function includesTasks(classes: readonly string[]): boolean {
  return classes.some(
    (filter) => filter === "*" || filter.toLowerCase() === "task",
  );
}
