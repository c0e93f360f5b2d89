import {
  onScopeDispose,
  shallowRef,
  type Component,
  type Ref,
  type ShallowRef,
} from "vue";
import type { ObjectRow } from "../api/object-row.js";
import type { Submission } from "../ui/submission.js";
import type { ActionRequest } from "./action-requests.js";
import type { Skipped } from "./plan/action.js";
import type { PlanForm } from "./plan/run-plan.js";

/** A requested action whose dialog is open, or hidden while the action runs. */
export interface ActionFormState {
  readonly id: number;
  readonly request: ActionRequest;
  readonly objects: readonly ObjectRow[];
  readonly skipped: readonly Skipped[];
  /** Undefined: a confirmation. */
  readonly dialog: Component | undefined;
  readonly submission: Ref<Submission>;
}

/**
 * Time in ms that a hidden dialog is retained, to be opened again after a failure:
 * its lists of objects are live queries, and actions such as migrations take hours.
 */
const RETAINED_MS = 300_000;

const idle: Submission = { isHidden: false, isBusy: false, problem: undefined };

/** The dialogs of actions. After a failure they open again with what was entered. */
export function useActionForms() {
  const forms = shallowRef<readonly ActionFormState[]>([]);
  let lastId = 0;
  const timers = new Map<ActionFormState, ReturnType<typeof setTimeout>>();
  onScopeDispose(() => {
    for (const timer of timers.values()) clearTimeout(timer);
  });

  function remove(form: ActionFormState): void {
    clearTimeout(timers.get(form));
    timers.delete(form);
    if (!forms.value.includes(form)) return;
    forms.value = forms.value.filter((one) => one !== form);
    form.request.onEnd();
  }

  function hide(form: ActionFormState): void {
    form.submission.value = { ...form.submission.value, isHidden: true };
    clearTimeout(timers.get(form));
    timers.set(
      form,
      setTimeout(() => {
        remove(form);
      }, RETAINED_MS),
    );
  }

  return {
    forms: forms as Readonly<ShallowRef<readonly ActionFormState[]>>,
    /** Opens a dialog, in the place of another one that is open. */
    open(parts: Omit<ActionFormState, "id" | "submission">): void {
      for (const form of forms.value)
        if (!form.submission.value.isHidden) remove(form);
      const form = { ...parts, id: ++lastId, submission: shallowRef(idle) };
      forms.value = [...forms.value, form];
    },
    /** What the user closes while it is busy continues without its dialog. */
    close(form: ActionFormState): void {
      if (form.submission.value.isBusy) hide(form);
      else remove(form);
    },
    /** The form as the plan needs it that it has submitted. */
    submit(form: ActionFormState): PlanForm {
      form.submission.value = { ...idle, isBusy: true };
      return {
        isOpen: () => !form.submission.value.isHidden,
        isRetained: () => forms.value.includes(form),
        hide: () => {
          hide(form);
        },
        fail(problem) {
          clearTimeout(timers.get(form));
          form.submission.value = { ...idle, problem };
        },
        remove: () => {
          remove(form);
        },
      };
    },
  };
}
