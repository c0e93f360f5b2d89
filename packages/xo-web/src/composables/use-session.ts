import { readonly, shallowRef, type ShallowRef } from "vue";
import { isObject, type Json } from "../api/merge-patch.js";
import {
  fetchTicket,
  signIn,
  signOut,
  type SignInForm,
  type SignInOutcome,
} from "../api/sign-in.js";

/** A call on the page's connection. */
export type Call = (method: string, params?: Json) => Promise<Json>;

export interface Session {
  /** Who has signed in; null: nobody; undefined: not known yet. */
  readonly user: Readonly<ShallowRef<string | null | undefined>>;
  /** For each connection that has been opened. */
  opened(call: Call): Promise<void>;
  signIn(form: SignInForm): Promise<SignInOutcome>;
  signOut(): Promise<void>;
}

/** Who is in front of the page. */
export function useSession(): Session {
  const user = shallowRef<string | null | undefined>(undefined);
  let call: Call | undefined;

  async function renew(): Promise<void> {
    const ticket = await fetchTicket();
    if (ticket === undefined || call === undefined) {
      user.value = null;
      return;
    }
    const told = await call("session.signInWithTicket", { ticket });
    const name = isObject(told) ? told["email"] : undefined;
    user.value = typeof name === "string" ? name : null;
  }

  return {
    user: readonly(user),
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
      user.value = null;
    },
  };
}
