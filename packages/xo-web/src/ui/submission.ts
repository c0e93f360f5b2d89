import { inject, type InjectionKey, type Ref } from "vue";

/** State of what a dialog has submitted, from the component above that sends it. */
export interface Submission {
  /** Invisible, but its fields keep what was entered. */
  readonly isHidden: boolean;
  readonly isBusy: boolean;
  /** Why the last attempt failed. */
  readonly problem: string | undefined;
}

export const submissionKey: InjectionKey<Readonly<Ref<Submission>>> =
  Symbol("submission");

/** @returns undefined: no component above sends what this dialog submits */
export function useSubmission(): Readonly<Ref<Submission>> | undefined {
  return inject(submissionKey, undefined);
}
