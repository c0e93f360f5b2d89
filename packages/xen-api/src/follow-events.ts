import { EventStream } from "./events.js";
import { injectToken } from "./inject-token.js";
import { learnMembers } from "./learn-members.js";
import { tellsOfMembers } from "./members.js";
import type { Parts } from "./parts.js";
import type { EventsOptions, XapiEvents } from "./xapi.js";

/** See Xapi.events. Tasks and candidates learn from what passes. */
export async function* followEvents(
  parts: Parts,
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
      tasks.feed(batch);
      if (tellsOfMembers(batch)) void learnMembers(parts, onCandidates);
    },
  });
  const endFeed = tellsOfTasks(classes) ? tasks.addFeed() : undefined;
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

function tellsOfTasks(classes: readonly string[]): boolean {
  return classes.some(
    (filter) => filter === "*" || filter.toLowerCase() === "task",
  );
}
