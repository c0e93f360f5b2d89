import type { Store } from "@xo-server/store";
import { systemClock } from "../clock.js";
import type { Client } from "../operations/client.js";
import type { ServerOptions } from "../server-options.js";
import type { StopStack } from "../stop-stack.js";
import { dropExpiredTokens } from "./expired-tokens.js";
import { prepareStore } from "./first-start.js";
import { People } from "./people.js";
import { Sessions } from "./sessions.js";
import { SignIn } from "./sign-in.js";

/** Who may come in, and who is in. */
export interface Reception {
  readonly people: People;
  readonly signIn: SignIn;
  readonly sessions: Sessions;
}

/** @param onRights somebody else is behind a client now, or the same with other rights */
export async function startPeople(
  store: Store,
  onRights: (client: Client) => void,
  options: Pick<ServerOptions, "loggers" | "clock" | "env">,
  stops: StopStack,
): Promise<Reception> {
  const { loggers, clock = systemClock, env } = options;
  await prepareStore(store, loggers.named("xo:people"), env);
  const people = new People(store);
  const sessions = new Sessions({ store, clock, onRights });
  const stopDropping = dropExpiredTokens(store, clock);
  stops.push("people", () => {
    stopDropping();
    sessions.stop();
    people.stop();
  });
  return { people, sessions, signIn: new SignIn({ store, people, clock }) };
}
