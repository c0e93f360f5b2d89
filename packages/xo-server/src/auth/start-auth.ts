import type { Store } from "@xo-server/store";
import { systemClock } from "../clock.js";
import type { Client } from "../operations/client.js";
import type { ServerOptions } from "../boot/server-options.js";
import type { StopStack } from "../boot/stop-stack.js";
import { dropExpiredTokens } from "./expired-tokens.js";
import { prepareStore } from "./first-start.js";
import { createSignIn } from "./create-sign-in.js";
import { People } from "./people.js";
import { Sessions } from "./sessions.js";
import type { SignIn } from "./sign-in.js";
import { Tickets } from "./tickets.js";

/** Who may come in, and who is in. */
export interface AuthService {
  readonly people: People;
  readonly signIn: SignIn;
  readonly sessions: Sessions;
  readonly tickets: Tickets;
}

/** @param onRights somebody else is behind a client now, or the same with other rights */
export async function startAuth(
  store: Store,
  onRights: (client: Client) => void,
  options: Pick<ServerOptions, "config" | "loggers" | "clock" | "env">,
  stops: StopStack,
): Promise<AuthService> {
  const { loggers, clock = systemClock, env } = options;
  await prepareStore(store, loggers.named("xo:people"), env);
  const people = new People(store);
  const sessions = new Sessions({ store, clock, onRights });
  const stopDropping = dropExpiredTokens(store, clock);
  const signIn = createSignIn(store, people, options);
  stops.push("people", () => {
    stopDropping();
    signIn.stop();
    sessions.stop();
    people.stop();
  });
  return { people, sessions, signIn, tickets: new Tickets(clock) };
}
