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

/** The current user. */
interface SignedInUser {
  readonly id: string;
  readonly name: string;
  readonly isAdmin: boolean;
  /** An anonymous user of a demo. */
  readonly isGuest: boolean;
  /** Stored on the server: saved views, for example. */
  readonly preferences: Readonly<Record<string, Json>>;
}

export interface Session {
  /** null: not signed in; undefined: not known yet. */
  readonly user: Readonly<ShallowRef<SignedInUser | null | undefined>>;
  /** A user who may only set up a second factor, and is not signed in to anything else; null: there is none. */
  readonly setUpUser: Readonly<ShallowRef<SignedInUser | null>>;
  /** The session of this page has ended, and not by signing out. */
  readonly hasEnded: Readonly<ShallowRef<boolean>>;
  /** Call it for each new connection. Rejects if the server cannot answer now: the last known user stays. */
  readonly opened: (call: Call) => Promise<void>;
  readonly signIn: (form: SignInForm) => Promise<SignInOutcome>;
  readonly signOut: () => Promise<void>;
  /** Continues without signing in: a demo shows its objects to anonymous users. */
  readonly continueAnonymously: () => void;
  /** Changes some of the preferences, on the page and on the server. */
  readonly setPreferences: (
    changes: Readonly<Record<string, Json>>,
  ) => Promise<void>;
}

const anonymous: SignedInUser = {
  id: "guest",
  name: "",
  isAdmin: false,
  isGuest: true,
  preferences: {},
};
/** Stored for this tab of the browser. */
const key = "anonymous";

/** The session of the page. */
export function createSession(): Session {
  const user = shallowRef<SignedInUser | null | undefined>(undefined);
  const setUpUser = shallowRef<SignedInUser | null>(null);
  const hasEnded = shallowRef(false);
  let call: Call | undefined;

  async function renew(): Promise<void> {
    const ticket = await fetchTicket();
    if (ticket === undefined || call === undefined) {
      const wasSignedIn = user.value?.isGuest === false;
      if (wasSignedIn || setUpUser.value !== null) hasEnded.value = true;
      setUpUser.value = null;
      user.value = sessionStorage.getItem(key) === null ? null : anonymous;
      return;
    }
    const answer = await call("session.signInWithTicket", { ticket });
    const found = toUser(answer);
    const isSetUp = isObject(answer) && answer["needsSecondFactor"] === true;
    hasEnded.value = false;
    setUpUser.value = isSetUp ? found : null;
    user.value = isSetUp ? null : found;
  }

  return {
    user,
    setUpUser,
    hasEnded,
    async opened(input) {
      call = input;
      await renew();
    },
    async signIn(form) {
      const outcome = await signIn(form);
      if (outcome.kind === "signed-in") await renew();
      return outcome;
    },
    async signOut() {
      // The socket is signed in first, because it stays open.
      await call?.("session.signOut").catch(() => undefined);
      await signOut();
      sessionStorage.removeItem(key);
      hasEnded.value = false;
      setUpUser.value = null;
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
        await call?.("user.set", { id: before.id, preferences: changes });
      } catch (error) {
        user.value = before;
        throw error;
      }
    },
  };
}

function toUser(value: Json): SignedInUser | null {
  if (!isObject(value) || typeof value["email"] !== "string") return null;
  const { id, email, permission, preferences } = value;
  return {
    id: typeof id === "string" ? id : "",
    name: email,
    isAdmin: permission === "admin",
    isGuest: false,
    preferences: isObject(preferences) ? preferences : {},
  };
}
