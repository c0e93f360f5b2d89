import {
  computed,
  inject,
  provide,
  shallowRef,
  watch,
  type ComputedRef,
  type InjectionKey,
} from "vue";
import { injectRequired } from "../injection.js";
import type { Server } from "../live/use-server.js";
import { AllowedOperations, type Question } from "./allowed-operations.js";

/** What the user may do. */
export interface UserRights {
  /** Reactive. @returns undefined: not known yet */
  readonly may: (question: Question, id: string) => boolean | undefined;
}

const key: InjectionKey<UserRights> = Symbol("rights");
const editable: InjectionKey<ComputedRef<boolean>> = Symbol("editable");

/** To be called in the root component. Sends no requests for administrators, who may do everything. */
export function provideRights({ call, session, whenOpen }: Server): void {
  const version = shallowRef(0);
  const allowed = new AllowedOperations(call, () => {
    version.value++;
  });
  const clear = () => {
    allowed.clear();
    version.value++;
  };
  watch(() => session.user.value?.id, clear);
  whenOpen(clear);
  provide(key, {
    may(question, id) {
      if (session.user.value?.isAdmin === true) return true;
      void version.value;
      return allowed.get(question, id);
    },
  });
}

/** The rights of the current user, to hide what the server would refuse. */
export function useRights(): UserRights {
  return injectRequired(key);
}

/** Provides whether the fields of a page can be changed by the user. */
export function provideEditable(isEditable: () => boolean): void {
  provide(editable, computed(isEditable));
}

/** Whether the fields of this page can be changed. */
export function useEditable(): ComputedRef<boolean> {
  return inject(
    editable,
    computed(() => true),
  );
}
