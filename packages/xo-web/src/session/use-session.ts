import { shallowRef, type ShallowRef } from "vue";
import { isObject, type Json } from "@xo-server/kit";
import type { Call } from "../api/status-stream.js";
import {
  fetchTicket,
  signIn,
  signOut,
  type SignInForm,
  type SignInOutcome,
} from "./sign-in.js";

/** Who has signed in. */
export interface Person {
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
  readonly person: Readonly<ShallowRef<Person | null | undefined>>;
  /** For each connection that has been opened. */
  readonly opened: (call: Call) => Promise<void>;
  readonly signIn: (form: SignInForm) => Promise<SignInOutcome>;
  readonly signOut: () => Promise<void>;
  /** Goes on without signing in: a demo shows its objects to everybody. */
  readonly lookAround: () => void;
  /** Changes some of the preferences, here and on the server. */
  readonly prefer: (changes: Readonly<Record<string, Json>>) => Promise<void>;
}

const guest: Person = {
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
  const person = shallowRef<Person | null | undefined>(undefined);
  let call: Call | undefined;

  async function renew(): Promise<void> {
    const ticket = await fetchTicket();
    if (ticket === undefined || call === undefined) {
      person.value = sessionStorage.getItem(key) === null ? null : guest;
      return;
    }
    person.value = toPerson(await call("session.signInWithTicket", { ticket }));
  }

  return {
    person,
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
      person.value = null;
    },
    lookAround() {
      sessionStorage.setItem(key, "yes");
      person.value = guest;
    },
    async prefer(changes) {
      const before = person.value;
      if (!before || before.isGuest) return;
      const preferences = { ...before.preferences, ...changes };
      person.value = { ...before, preferences };
      try {
        await call?.("user.set", { id: before.id, preferences });
      } catch (error) {
        person.value = before;
        throw error;
      }
    },
  };
}

function toPerson(told: Json): Person | null {
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
