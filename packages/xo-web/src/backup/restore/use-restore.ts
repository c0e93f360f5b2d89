import { ref, type Ref } from "vue";
import { useRouter } from "vue-router";
import type { Json } from "@xo-server/kit";
import { toFailure } from "../../forms/failure.js";
import { useServer } from "../../live/use-server.js";
import { fill } from "../../locale/messages.js";
import { useLocale } from "../../locale/use-locale.js";
import { pathOf } from "../../objects/object-path.js";
import { useToasts } from "../../toasts/use-toasts.js";
import type { RestoreCall } from "./restore-entries.js";

interface RestoreStart {
  readonly isBusy: Readonly<Ref<boolean>>;
  /** Why the restore was refused. */
  readonly problem: Readonly<Ref<string | undefined>>;
  /** @returns whether it has begun: its task shows the progress, a toast the end */
  readonly begin: (call: RestoreCall, name: string) => Promise<boolean>;
}

/** A restore may take a day. */
const TIMEOUT_MS = 24 * 3_600_000;
/** What is refused is refused within this time. */
const REFUSED_MS = 2_000;

interface TestResult {
  readonly success: boolean;
  readonly error?: string;
}

type Ended = { readonly answer: Json } | { readonly reason: string };

/**
 * Starts restores. A call without an error after 2 s counts as started: it goes
 * on for as long as the restore.
 */
export function useRestore(): RestoreStart {
  const { call } = useServer();
  const { text } = useLocale();
  const toasts = useToasts();
  const report = useReport();
  const isBusy = ref(false);
  const problem = ref<string>();

  return {
    isBusy,
    problem,
    async begin(restore, name) {
      const { method, params } = restore;
      isBusy.value = true;
      problem.value = undefined;
      const work = call(method, params, TIMEOUT_MS).then(
        (answer): Ended => ({ answer }),
        (error: unknown): Ended => {
          const { code, reason } = toFailure(error);
          return { reason: code === undefined ? text.value.ui.lost : reason };
        },
      );
      const first = await Promise.race([work, wait(REFUSED_MS)]);
      isBusy.value = false;
      if (first !== undefined && "reason" in first) {
        problem.value = first.reason;
        return false;
      }
      if (first === undefined) {
        toasts.show({
          id: toastOf(params),
          tone: "plain",
          text: fill(text.value.backup.restore.started, { name }),
        });
        void work.then((ended) => {
          report(ended, restore, name);
        });
      } else report(first, restore, name);
      return true;
    },
  };
}

/** Shows how a restore ended. */
function useReport(): (
  ended: Ended,
  restore: RestoreCall,
  name: string,
) => void {
  const { text } = useLocale();
  const toasts = useToasts();
  const router = useRouter();
  function report(
    ended: Ended,
    { method, params }: RestoreCall,
    name: string,
  ): void {
    const { restore } = text.value.backup;
    if ("reason" in ended) {
      toasts.show({
        id: toastOf(params),
        tone: "bad",
        text: fill(restore.failed, { name }),
        detail: ended.reason,
      });
      return;
    }
    if (method === "backupNg.checkBackup") {
      const { success, error } = ended.answer as unknown as TestResult;
      toasts.show({
        id: toastOf(params),
        tone: success ? "good" : "bad",
        text: fill(success ? restore.testPassed : restore.testFailed, { name }),
        ...(error === undefined ? {} : { detail: error }),
      });
      return;
    }
    if (params["dryRun"] === true) {
      const { checked } = text.value.backup.metadata;
      toasts.show({
        id: toastOf(params),
        tone: "good",
        text: fill(checked, { name }),
      });
      return;
    }
    const vm = newVmOf(method, ended.answer);
    const path = vm === undefined ? undefined : pathOf("VM", vm);
    toasts.show({
      id: toastOf(params),
      tone: "good",
      text: fill(restore.restored, { name }),
      ...(path === undefined
        ? {}
        : {
            action: { label: restore.show, run: () => router.push(path) },
          }),
    });
  }

  return report;
}

function wait(ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(() => {
      resolve(undefined);
    }, ms);
  });
}

/** The end replaces the beginning. */
function toastOf({ id }: RestoreCall["params"]): string {
  return `restore ${JSON.stringify(id)}`;
}

function newVmOf(method: string, answer: Json): string | undefined {
  const { id } = (answer ?? {}) as { readonly id?: string };
  return method === "backup.restore" ? id : undefined;
}
