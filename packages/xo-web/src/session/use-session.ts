import { shallowRef, type ShallowRef } from "vue";
import { isObject, type Json } from "@xo-server/kit";
import type { Call } from "../api/server-connection.js";
import {
  fetchTicket,
  signIn,
  signOut,
  type SignInForm,
  type SignInOutcome,
} from "./sign-in.js";

/** Who has signed in. */
export interface User {
  readonly id: string;
  readonly name: string;
  readonly isAdmin: boolean;
  /** Nobody in particular, who looks at a demo. */
  readonly isGuest: boolean;
  /** What the server keeps for them: saved views, for example. */
  readonly preferences: Readonly<Record<string, Json>>;
}

export interface Session {
  /** null: nobody; undefined: not known yet. */
  readonly user: Readonly<ShallowRef<User | null | undefined>>;
  /** For each connection that has been opened. */
  readonly opened: (call: Call) => Promise<void>;
  readonly signIn: (form: SignInForm) => Promise<SignInOutcome>;
  readonly signOut: () => Promise<void>;
  /** Goes on without signing in: a demo shows its objects to everybody. */
  readonly continueAnonymously: () => void;
  /** Changes some of the preferences, here and on the server. */
  readonly setPreferences: (
    changes: Readonly<Record<string, Json>>,
  ) => Promise<void>;
}

const anonymous: User = {
  id: "guest",
  name: "",
  isAdmin: false,
  isGuest: true,
  preferences: {},
};
/** Remembered for this tab of the browser. */
const key = "looks-around";

/** Who is in front of the page. */
export function createSession(): Session {
  const user = shallowRef<User | null | undefined>(undefined);
  let call: Call | undefined;

  async function renew(): Promise<void> {
    const ticket = await fetchTicket();
    if (ticket === undefined || call === undefined) {
      user.value = sessionStorage.getItem(key) === null ? null : anonymous;
      return;
    }
    user.value = toUser(await call("session.signInWithTicket", { ticket }));
  }

  return {
    user: user,
    async opened(given) {
      call = given;
      // Who it is, is not known while the server is gone: what was known stays.
      await renew().catch(() => undefined);
    },
    async signIn(form) {
      const outcome = await signIn(form);
      if (outcome.kind === "signed-in") await renew();
      return outcome;
    },
    async signOut() {
      // First on the socket, which stays open then.
      await call?.("session.signOut").catch(() => undefined);
      await signOut();
      sessionStorage.removeItem(key);
      user.value = null;
    },
    continueAnonymously() {
      sessionStorage.setItem(key, "yes");
      user.value = anonymous;
    },
    async setPreferences(changes) {
      const before = user.value;
      if (!before || before.isGuest) return;
      const preferences = { ...before.preferences, ...changes };
      user.value = { ...before, preferences };
      try {
        await call?.("user.set", { id: before.id, preferences });
      } catch (error) {
        user.value = before;
        throw error;
      }
    },
  };
}

function toUser(told: Json): User | null {
  if (!isObject(told) || typeof told["email"] !== "string") return null;
  const { id, email, permission, preferences } = told;
  return {
    id: typeof id === "string" ? id : "",
    name: email,
    isAdmin: permission === "admin",
    isGuest: false,
    preferences: isObject(preferences) ? preferences : {},
  };
}
