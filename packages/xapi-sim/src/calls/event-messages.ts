import { datamodel } from "@xo-server/model";
import { eventFrom } from "../events/event-from.js";
import { formatToken } from "../events/token.js";
import { XapiFailure } from "../xapi-failure.js";
import type { CoreContext, CoreTable } from "./core.js";

/** The messages of class event. */
export const eventMessages: CoreTable = {
  "event.from": async (context, params) => {
    const { core } = context;
    loseEvents(context);
    const [classes, token, timeout] = params as [string[], string, number];
    return whileSessionLives(context, (signal, checkSession) =>
      eventFrom(core, { classes, token, timeout, checkSession, signal }),
    );
  },
  "event.register": ({ core, session }, [classes]) =>
    core.queue.register(session.ref, classes as string[]),
  "event.unregister": ({ core, session }, [classes]) =>
    core.queue.unregister(session.ref, classes as string[]),
  "event.next": async (context) => {
    loseEvents(context);
    return whileSessionLives(context, (signal, checkSession) =>
      context.core.queue.next(context.session.ref, checkSession, signal),
    );
  },
  "event.get_current_id": ({ core }) => core.queue.currentId,
  "event.inject": ({ db }, params) => {
    const [className, ref] = params as [string, string];
    if (!Object.hasOwn(datamodel.classes, className))
      throw new XapiFailure("HANDLE_INVALID", [className, ref]);
    const token = formatToken({ database: db.generation, messages: 0 });
    db.touch(className, ref);
    return token;
  },
};

function loseEvents({ core }: CoreContext): void {
  if (core.faults.trigger("eventsLost") !== undefined)
    throw new XapiFailure("EVENTS_LOST");
}

/** A call that blocks ends when its session or its connection does. */
async function whileSessionLives<T>(
  { core, session, origin }: CoreContext,
  block: (signal: AbortSignal, checkSession: () => void) => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  const forget = core.sessions.onEnd((ref) => {
    if (ref !== session.ref) return;
    core.queue.forget(ref);
    ended.abort();
  });
  const signal = AbortSignal.any([ended.signal, origin.closed]);
  const checkSession = (): void => {
    if (!core.sessions.isAlive(session.ref))
      throw new XapiFailure("SESSION_INVALID", [session.ref]);
  };
  try {
    return await block(signal, checkSession);
  } finally {
    forget();
  }
}
