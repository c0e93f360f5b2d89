import {
  provide,
  readonly,
  shallowRef,
  type InjectionKey,
  type ShallowRef,
} from "vue";
import type { ObjectRow } from "../api/object-row.js";
import { injectRequired } from "../injection.js";
import type { Action } from "./plan/action.js";

/** An action that the user has chosen, with its objects. */
export interface ActionRequest {
  readonly action: Action;
  readonly objects: readonly ObjectRow[];
  /** Called when the action has succeeded, failed or was cancelled. */
  readonly onEnd: () => void;
}

/** The actions that pages request, one at a time. ActionHost performs them. */
class ActionRequests {
  readonly #current = shallowRef<ActionRequest>();
  readonly #isUsed = shallowRef(false);

  readonly current: Readonly<ShallowRef<ActionRequest | undefined>> =
    this.#current;
  /** False until the first request: ActionHost is loaded then. */
  readonly isUsed = readonly(this.#isUsed);

  /**
   * Replaces the current request.
   * @returns resolves when the action has ended; toasts report its outcome
   */
  readonly perform = (
    action: Action,
    objects: readonly ObjectRow[],
  ): Promise<void> => {
    this.#current.value?.onEnd();
    this.#isUsed.value = true;
    return new Promise((resolve) => {
      this.#current.value = { action, objects, onEnd: resolve };
    });
  };

  isCurrent(request: ActionRequest): boolean {
    return this.#current.value === request;
  }

  /** Removes the request, unless another one has replaced it. */
  remove(request: ActionRequest): void {
    if (this.isCurrent(request)) this.#current.value = undefined;
  }
}

const key: InjectionKey<ActionRequests> = Symbol("action requests");

/** To be called in the root component. */
export function provideActionRequests(): ActionRequests {
  const requests = new ActionRequests();
  provide(key, requests);
  return requests;
}

/** The requests that the root component provides. */
export function useActionRequests(): ActionRequests {
  return injectRequired(key);
}
